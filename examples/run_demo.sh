#!/bin/sh
# The tensor-parallel block on two processes under torchrun, then on one: the numbers agree. `make demo` runs this.
#
#   examples/run_demo.sh PYTHON
set -eu
python=$1
script=$(dirname "$0")/tensor_parallel_block.py
export OMP_NUM_THREADS=1

echo "== two processes"
"$python" -m torch.distributed.run --standalone --nproc-per-node 2 "$script"
echo
echo "== one process"
"$python" "$script"
