// Loops over the rows of pointwise.def become vector instructions.
#if defined(__x86_64__)

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "device/compiled_text.h"
#include "device/row_kernels.h"

namespace meshfuse {
namespace {

#ifdef __clang__
constexpr const char* kReportFlag = "-Rpass=loop-vectorize";
#else
constexpr const char* kReportFlag = "-fopt-info-vec-optimized";
#endif

/// Rows that call the C library, run a loop for each element, or are compiled to memset or memcpy; `truediv` has the code of `div`,
/// which the compiler merges.
constexpr std::array<std::string_view, 13> kOther = {
    "erfcinv", "erfinv", "lgamma", "fmod",        "mod", "remainder", "nextafter",
    "complex", "imag",   "isreal", "segment_set", "set", "truediv"};
/// Rows that call it for doubles alone.
constexpr std::array<std::string_view, 4> kScalarDouble = {"cos", "pow", "sin", "tan"};

bool vectorizes(const PointwiseRow& row, PrimType type) {
  return std::ranges::find(kOther, row.name) == kOther.end() &&
         (type != PrimType::Double ||
          std::ranges::find(kScalarDouble, row.name) == kScalarDouble.end());
}

size_t lineOf(const std::string& text, size_t position) {
  const auto end = text.begin() + static_cast<std::ptrdiff_t>(position);
  return 1 + static_cast<size_t>(std::count(text.begin(), end, '\n'));
}

/// The lines that the compiler names as those of loops that it vectorized.
std::set<size_t> vectorizedLines(const std::string& report) {
  std::set<size_t> lines;
  std::istringstream text(report);
  const std::string_view file = "kernel.cpp:";
  for (std::string line; std::getline(text, line);) {
    const size_t place = line.find(file);
    if (place != std::string::npos && line.find("vectorized") != std::string::npos) {
      lines.insert(std::stoul(line.substr(place + file.size())));
    }
  }
  return lines;
}

void checkRows(PrimType type) {
  std::vector<const PointwiseRow*> rows;
  std::string body;
  for (const PointwiseRow& row : pointwiseRows()) {
    for (const auto& [operand, types] : typesOf(row)) {
      if (operand == type && vectorizes(row, type)) {
        rows.push_back(&row);
        body += kernelText(row, type, types);
      }
    }
  }
  ASSERT_GT(rows.size(), 50U);
  std::string text = deviceTextFor(body) + "using namespace device;\n";
  std::vector<std::pair<size_t, size_t>> loops;
  for (const PointwiseRow* row : rows) {
    text += kernelText(*row, type, *applyDtypeClass(row->types, type));
    loops.emplace_back(lineOf(text, text.rfind("  for (int64")), lineOf(text, text.size()));
  }
  const CompiledText kernels(text, kReportFlag);
  const std::set<size_t> lines = vectorizedLines(kernels.report());
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto found = lines.lower_bound(loops[i].first);
    EXPECT_TRUE(found != lines.end() && *found < loops[i].second)
        << rows[i]->name << " of " << nameOf(type);
  }
}

TEST(Vectorization, RowsOfFloat) { checkRows(PrimType::Float); }
TEST(Vectorization, RowsOfDouble) { checkRows(PrimType::Double); }
TEST(Vectorization, RowsOfBFloat16) { checkRows(PrimType::BFloat16); }

}  // namespace
}  // namespace meshfuse

#endif
