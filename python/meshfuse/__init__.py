"""A fusion compiler and runtime for tensors and distributed tensors.

from meshfuse import FusionDefinition

with FusionDefinition() as fd:
    a = fd.from_pytorch(x)
    fd.add_output(fd.ops.exp(a))
(y,) = fd.execute([x])
"""

import torch as _torch  # noqa: F401  (its libraries have to be loaded before the extension)

from meshfuse import kernels as _kernels
from meshfuse import nvfuser_direct_version, ops, pytorch_utils
from meshfuse._C import (
    DataType,
    Fusion,
    FusionGuard,
    Scalar,
    TensorView,
    Val,
    compute_tensor_descriptor,
    define_scalar,
    define_tensor,
    translate_fusion,
)
from meshfuse._C import version as __version__
from meshfuse.dtensor_execution import execute_with_dtensors
from meshfuse.executor_cache import FusionExecutorCache, LRUCache, LruFusionCache
from meshfuse.fusion_definition import FusionDefinition
from meshfuse.nvfuser_alias import enable_nvfuser_alias
from meshfuse.output_shardings import ParallelType
from meshfuse.validation import get_val_tolerances, validate_with_auto_inferred_outputs

__all__ = [
    "DataType",
    "Fusion",
    "FusionDefinition",
    "FusionExecutorCache",
    "FusionGuard",
    "LRUCache",
    "LruFusionCache",
    "ParallelType",
    "Scalar",
    "TensorView",
    "Val",
    "__version__",
    "compute_tensor_descriptor",
    "define_scalar",
    "define_tensor",
    "enable_nvfuser_alias",
    "execute_with_dtensors",
    "get_val_tolerances",
    "nvfuser_direct_version",
    "ops",
    "pytorch_utils",
    "translate_fusion",
    "validate_with_auto_inferred_outputs",
    "version",
]

_kernels._find_fallback_compiler()


def version() -> nvfuser_direct_version.LanguageVersion:
    """nvFuser's version whose language this is, with meshfuse's own as the local part; ``__version__`` is meshfuse's own."""
    return nvfuser_direct_version.__version__
