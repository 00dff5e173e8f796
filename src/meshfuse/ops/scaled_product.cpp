#include "meshfuse/ops/scaled_product.h"

#include <algorithm>
#include <array>
#include <string>

#include "meshfuse/base/error.h"
#include "meshfuse/ops/arguments.h"

namespace meshfuse {

namespace {

constexpr std::array kMatrixTypes = {PrimType::Float4_e2m1fn, PrimType::Float8_e4m3fn,
                                     PrimType::Float8_e5m2,   PrimType::Half,
                                     PrimType::BFloat16,      PrimType::Float};
constexpr std::array kScaleTypes = {PrimType::Float, PrimType::Float8_e8m0fnu,
                                    PrimType::Float8_e4m3fn};
constexpr std::array kResultTypes = {PrimType::Float, PrimType::Half, PrimType::BFloat16};

bool isTensor(const Fusion& fusion, const Arg& arg) {
  const ValId* val = std::get_if<ValId>(&arg);
  return val != nullptr && fusion.val(*val).isTensor();
}

}  // namespace

std::vector<Param> scaledParams() {
  return {{"alpha", ParamKind::Operand, true},
          {"bias", ParamKind::Tensor, true},
          {"beta", ParamKind::Operand, true},
          {"dtype", ParamKind::DataType, true, PrimType::BFloat16},
          {"output_block_scale_size", ParamKind::Int, true, Scalar(0)},
          {"output_block_scale_dtype", ParamKind::DataType, true, PrimType::BFloat16},
          {"output_gamma", ParamKind::Bool, true, Scalar(false)}};
}

void checkScaledProduct(std::string_view op, const Fusion& fusion, const std::vector<Arg>& args,
                        std::span<const size_t> matrices, std::span<const size_t> scales,
                        ScaledArgs rest) {
  const auto check = [&](std::span<const size_t> which, std::span<const PrimType> types,
                         std::string_view rule) {
    for (size_t arg : which) {
      if (std::ranges::find(types, tensorArg(fusion, args[arg]).dtype) == types.end()) {
        throwUser(ErrorKind::Runtime,
                  {op, rule, "got " + describe(fusion, args[arg]), "cast it first"});
      }
    }
  };
  check(matrices, kMatrixTypes,
        "matrices are of Float4_e2m1fn, Float8_e4m3fn, Float8_e5m2, Half, BFloat16 or Float");
  check(scales, kScaleTypes, "scales are of Float, Float8_e8m0fnu or Float8_e4m3fn");
  if (const Arg& bias = args[rest.bias()];
      isGiven(bias) && categoryOf(tensorArg(fusion, bias).dtype) == TypeCategory::Complex) {
    throwUser(ErrorKind::Runtime, {op, "the bias is real", "got " + describe(fusion, bias),
                                   "cast its real part, or add it to the result"});
  }
  const PrimType dtype = std::get<PrimType>(args[rest.dtype()]);
  if (std::ranges::find(kResultTypes, dtype) == kResultTypes.end()) {
    throwUser(ErrorKind::Runtime,
              {op, "the result is of Float, Half or BFloat16",
               "got dtype DataType." + std::string(nameOf(dtype)), "cast the result"});
  }
  if (intArg(args[rest.blockScaleSize()]) != 0 || boolArg(args[rest.gamma()])) {
    throwUser(
        ErrorKind::Runtime,
        {op, "the result comes without scales of its own",
         "got output_block_scale_size " + std::to_string(intArg(args[rest.blockScaleSize()])) +
             " and output_gamma " + (boolArg(args[rest.gamma()]) ? "True" : "False"),
         "leave them out, and quantize the result"});
  }
}

std::optional<size_t> operandOf(const OpCall& call, size_t arg) {
  if (!isTensor(*call.fusion, call.args[arg])) {
    return std::nullopt;
  }
  return std::ranges::count_if(call.args.first(arg),
                               [&](const Arg& other) { return isTensor(*call.fusion, other); });
}

}  // namespace meshfuse
