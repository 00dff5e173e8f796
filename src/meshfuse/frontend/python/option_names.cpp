// The names that execute's options may have.
#include "meshfuse/frontend/python/option_names.h"

#include <array>

namespace meshfuse {
namespace {

constexpr auto kEnable = std::to_array<std::string_view>({
    "cutlass_scheduler",
    "fast_math",
    "fuse_matmul",
    "fuse_multiple_matmuls",
    "host_ir_jit",
    "host_ir_lowering",
    "id_model_extra_validation",
    "insert_resharding_after",
    "io_to_lower_precision",
    "kernel_db",
    "kernel_debug",
    "kernel_lineinfo",
    "kernel_profile",
    "memory_promotion",
    "multicast_protocol",
    "p2p_protocol",
    "p2p_transport",
    "reuse_zeroed_memory",
    "static_fusion_count",
    "tma_inner_persistent",
    "tma_pointwise",
    "tma_reduction",
    "wait_debugger",
    "warn_register_spill",
    "ws_normalization",
});

constexpr auto kDisable = std::to_array<std::string_view>({
    "compile_to_sass",
    "contig_indexing",
    "expr_simplify",
    "fallback",
    "fma",
    "greedy_scheduler",
    "grouped_grid_welford_outer_opt",
    "index_hoist",
    "infer_contiguity",
    "kernel_reuse",
    "magic_zero",
    "matmul_expr_eval",
    "multidevice",
    "nvrtc_caching",
    "nvtx",
    "parallel_compile",
    "predicate_elimination",
    "python_inline_definitions",
    "resize_scheduler",
    "reuse_mismatched_type_registers",
    "var_name_remapping",
    "welford_vectorization",
});

}  // namespace

std::span<const std::string_view> enableOptions() noexcept { return kEnable; }
std::span<const std::string_view> disableOptions() noexcept { return kDisable; }

}  // namespace meshfuse
