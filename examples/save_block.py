"""Writes the inputs and the reference output of the feed-forward block as a torch archive, for feed_forward_block.cpp.

python examples/save_block.py block.pt
"""

import sys

import torch
from minilm import SENTENCES, MiniLM

LAYER = 5


def main(path: str) -> None:
    with torch.no_grad():
        model = MiniLM()
        block = model.feed_forward(LAYER)
        x = model.input_of_feed_forward(SENTENCES, LAYER)
        inputs = [t.contiguous() for t in (x, *block.tensors())]
        torch.save({"inputs": inputs, "eps": block.eps, "reference": block.reference(x)}, path)


if __name__ == "__main__":
    main(sys.argv[1])
