"""A fusion compiler and runtime for tensors and distributed tensors.

from meshfuse import FusionDefinition

with FusionDefinition() as fd:
    a = fd.from_pytorch(x)
    fd.add_output(fd.ops.exp(a))
(y,) = fd.execute([x])
"""

import torch as _torch  # noqa: F401  (its libraries have to be loaded before the extension)

from meshfuse import ops, pytorch_utils
from meshfuse._C import (
    DataType,
    Fusion,
    Scalar,
    TensorView,
    Val,
    compute_tensor_descriptor,
)
from meshfuse.fusion_definition import FusionDefinition

__all__ = [
    "DataType",
    "Fusion",
    "FusionDefinition",
    "Scalar",
    "TensorView",
    "Val",
    "compute_tensor_descriptor",
    "ops",
    "pytorch_utils",
]
