"""``import meshfuse.dynamo`` lets torch.compile take ``fd.execute`` into its graphs, ``fullgraph=True`` included.

Without it, torch.compile breaks its graph at ``fd.execute``, which is as right.
"""

from collections.abc import Sequence
from typing import Any

import torch

from meshfuse.fusion_definition import FusionDefinition
from meshfuse.graph_capture import execute_captured

__all__: list[str] = []


@torch.compiler.substitute_in_graph(FusionDefinition.execute, skip_signature_check=True)
def _execute(
    self: FusionDefinition,
    inputs: Sequence[Any],
    *,
    device: Any = None,
    save_repro_inputs: bool = False,
    _enable_options: Sequence[str] = (),
    _disable_options: Sequence[str] = (),
) -> list[torch.Tensor]:
    return execute_captured(self._form_in_graphs, inputs)
