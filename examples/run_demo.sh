#!/bin/sh
# The demo: the block on two processes, on one, and from C++. Usage: run_demo.sh PYTHON [EXAMPLES_BINARY_DIR]
set -eu
python=$1
binaries=${2:-build/release/examples}
here=$(dirname "$0")
export OMP_NUM_THREADS=1

echo "=== two processes"
"$python" -m torch.distributed.run --rdzv-backend c10d --rdzv-endpoint 127.0.0.1:0 \
  --local-addr 127.0.0.1 --nproc-per-node 2 "$here/tensor_parallel_block.py"
echo "=== one process"
"$python" "$here/tensor_parallel_block.py"
echo "=== C++, one process"
archive=$(mktemp)
trap 'rm -f "$archive"' EXIT
"$python" "$here/save_block.py" "$archive"
"$binaries/feed_forward_block" "$archive"
