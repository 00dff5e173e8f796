// Loops over the rows of pointwise.def become vector instructions.
#if defined(__x86_64__)

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

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

/// Rows that call the C library or run a loop for each element.
constexpr std::array<std::string_view, 9> kScalar = {
    "erfcinv", "erfinv", "lgamma", "fmod", "mod", "remainder", "nextafter", "complex", "imag"};
/// Rows that call it for doubles alone.
constexpr std::array<std::string_view, 4> kScalarDouble = {"cos", "pow", "sin", "tan"};

bool vectorizes(const PointwiseRow& row, PrimType type) {
  return std::ranges::find(kScalar, row.name) == kScalar.end() &&
         (type != PrimType::Double ||
          std::ranges::find(kScalarDouble, row.name) == kScalarDouble.end());
}

/// The line that the text's last loop begins in.
size_t lineOfLastLoop(const std::string& text) {
  return 1 + static_cast<size_t>(std::count(
                 text.begin(),
                 text.begin() + static_cast<std::ptrdiff_t>(text.rfind("  for (int64")), '\n'));
}

bool isReported(const std::string& report, size_t line) {
  std::istringstream lines(report);
  const std::string place = "kernel.cpp:" + std::to_string(line) + ":";
  for (std::string found; std::getline(lines, found);) {
    if (found.find(place) != std::string::npos && found.find("vectorized") != std::string::npos) {
      return true;
    }
  }
  return false;
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
  std::vector<size_t> lines;
  for (const PointwiseRow* row : rows) {
    text += kernelText(*row, type, *applyDtypeClass(row->types, type));
    lines.push_back(lineOfLastLoop(text));
  }
  const CompiledText kernels(text, kReportFlag);
  const std::string report = kernels.report();
  for (size_t i = 0; i < rows.size(); ++i) {
    EXPECT_TRUE(isReported(report, lines[i])) << rows[i]->name << " of " << nameOf(type);
  }
}

TEST(Vectorization, RowsOfFloat) { checkRows(PrimType::Float); }
TEST(Vectorization, RowsOfDouble) { checkRows(PrimType::Double); }
TEST(Vectorization, RowsOfBFloat16) { checkRows(PrimType::BFloat16); }
TEST(Vectorization, RowsOfHalf) { checkRows(PrimType::Half); }

}  // namespace
}  // namespace meshfuse

#endif
