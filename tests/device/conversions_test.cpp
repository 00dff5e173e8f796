// Conversions between all pairs of element types, as ATen converts. 8- and 16-bit types are tried with all their values.
#include <bit>
#include <cstdint>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "device/compiled_text.h"
#include "meshfuse/codegen/device_text.h"
#include "meshfuse/values/torch_types.h"

namespace meshfuse {
namespace {

using Conversion = void(void*, const void*, int64_t);

std::vector<PrimType> elementTypes() {
  std::vector<PrimType> types;
  for (const PrimType type : allPrimTypes()) {
    if (!torchNameOf(type).empty() && type != PrimType::Float4_e2m1fn_x2) {
      types.push_back(type);
    }
  }
  return types;
}

/// Bits of floats: all upper halves with the lower ones at which roundings to narrower types change.
at::Tensor floats() {
  const std::vector<uint32_t> ends = {0, 1, 0x0fff, 0x1000, 0x1001, 0x7fff, 0x8000, 0x8001, 0xffff};
  at::Tensor bits = at::empty({65536, static_cast<int64_t>(ends.size())}, at::kInt);
  auto* data = reinterpret_cast<uint32_t*>(bits.data_ptr<int32_t>());
  for (uint32_t upper = 0; upper < 65536; ++upper) {
    for (const uint32_t end : ends) {
      *data++ = upper << 16 | end;
    }
  }
  return bits.view(at::kFloat).flatten();
}

at::Tensor doubles() {
  std::mt19937_64 random(11);
  at::Tensor numbers = floats().to(at::kDouble);
  // Numbers at the ends of the integers' ranges and beside them.
  for (const double end : {0x1p31, 0x1p32, 0x1p63, 0x1p64}) {
    const at::Tensor steps = at::arange(-8, 9, at::kDouble);
    numbers = at::cat({numbers, end + steps * 0.5, -end + steps * 0.5,
                       end * (1.0 + steps * 0x1p-52), -end * (1.0 + steps * 0x1p-52)});
  }
  at::Tensor bits = at::empty({100000}, at::kLong);
  for (int64_t i = 0; i < bits.numel(); ++i) {
    bits.data_ptr<int64_t>()[i] = static_cast<int64_t>(random());
  }
  return at::cat({numbers, bits.view(at::kDouble)});
}

at::Tensor wholeNumbers() {
  std::mt19937_64 random(12);
  at::Tensor numbers = at::empty({200000}, at::kLong);
  for (int64_t i = 0; i < numbers.numel(); ++i) {
    // Of all lengths.
    numbers.data_ptr<int64_t>()[i] = static_cast<int64_t>(random()) >> (i % 64);
  }
  return numbers;
}

at::Tensor valuesOf(PrimType type) {
  const at::ScalarType dtype = torchDtype(type);
  if (type == PrimType::Bool) {
    return at::arange(2, at::kLong).to(at::kBool);
  }
  if (bitsOf(type) == 8) {
    return at::arange(256, at::kLong).to(at::kByte).view(dtype);
  }
  if (bitsOf(type) == 16) {
    return at::arange(65536, at::kLong).to(at::kShort).view(dtype);
  }
  switch (type) {
    case PrimType::Float:
      return floats();
    case PrimType::Double:
      return doubles();
    case PrimType::ComplexFloat:
      return at::complex(floats(), floats().flip(0));
    case PrimType::ComplexDouble:
      return at::complex(doubles(), doubles().flip(0));
    case PrimType::UInt64:
      return wholeNumbers().view(at::kUInt64);
    default:
      return wholeNumbers().to(dtype);
  }
}

/// The elements' bits as whole numbers, NaNs as one of them; complex numbers as pairs.
at::Tensor comparable(const at::Tensor& tensor) {
  if (tensor.is_complex()) {
    return comparable(at::view_as_real(tensor));
  }
  if (at::isFloatingType(tensor.scalar_type())) {
    const at::Tensor wide = tensor.to(at::kDouble);
    return at::where(at::isnan(wide), at::full({}, NAN, at::kDouble), wide)
        .contiguous()
        .view(at::kLong);
  }
  return tensor.scalar_type() == at::kUInt64 ? tensor.view(at::kLong) : tensor.to(at::kLong);
}

std::string functionName(PrimType from, PrimType to) {
  return std::string(nameOf(from)).append("_").append(nameOf(to));
}

std::string conversionText(PrimType from, PrimType to) {
  std::ostringstream text;
  text << "extern \"C\" void " << functionName(from, to) << "(" << deviceTypeName(to)
       << "* to, const " << deviceTypeName(from) << "* from, int64 n) {\n"
       << "  for (int64 i = 0; i < n; ++i) {\n    to[i] = convert<" << deviceTypeName(to)
       << ">(from[i]);\n  }\n}\n";
  return text.str();
}

void checkPair(const CompiledText& kernels, PrimType from, PrimType to) {
  SCOPED_TRACE(std::string(nameOf(from)) + " to " + std::string(nameOf(to)));
  const at::Tensor values = valuesOf(from);
  const at::Tensor wanted = values.to(torchDtype(to));
  const at::Tensor got = at::empty(values.sizes(), torchDtype(to));
  Conversion* const conversion = kernels.function<Conversion>(functionName(from, to));
  ASSERT_NE(conversion, nullptr);
  conversion(got.data_ptr(), values.data_ptr(), values.numel());
  at::Tensor wrong = at::ne(comparable(got), comparable(wanted));
  wrong = wrong.dim() == 2 ? wrong.any(1) : wrong;
  if (from == PrimType::Float8_e8m0fnu && categoryOf(to) == TypeCategory::Integral) {
    wrong[255] = false;  // NaN: of the other floats ATen makes the least number, of this one 0
  }
  wrong = wrong.nonzero().flatten();
  if (wrong.numel() > 0) {
    const int64_t at = wrong[0].item<int64_t>();
    ADD_FAILURE() << wrong.numel() << " of " << values.numel() << " differ; "
                  << values.narrow(0, at, 1) << " gives " << got.narrow(0, at, 1) << ", not "
                  << wanted.narrow(0, at, 1);
  }
}

TEST(Conversions, AreThoseOfAten) {
  const std::vector<PrimType> types = elementTypes();
  ASSERT_EQ(types.size(), 13U);
  for (const PrimType from : types) {
    std::string body;
    for (const PrimType to : types) {
      body += conversionText(from, to);
    }
    const CompiledText kernels(deviceTextFor(body) + "using namespace device;\n" + body, "-O1");
    for (const PrimType to : types) {
      checkPair(kernels, from, to);
    }
  }
}

}  // namespace
}  // namespace meshfuse
