#!/bin/sh
# tools/configure.sh PRESET FOLDER PYTHON: runs CMake when FOLDER is not configured, or was with another Python.
# Later changes of CMake files are the build's own business: it runs CMake again.
set -eu
preset=$1
folder=$2
python=$("$3" -c 'import sys; print(sys.executable)')

if [ -e "$folder/build.ninja" ] && [ "$(cat "$folder/python.txt" 2> /dev/null)" = "$python" ]; then
  # The linters read the list of files without a build.
  [ "$preset" != lint ] || cmake -S . -B "$folder" > /dev/null
  exit 0
fi
mkdir -p "$folder"
echo "configure: $folder ($preset, $python)"
rm -f "$folder/CMakeCache.txt"
if ! cmake --preset "$preset" -B "$folder" -DPython_EXECUTABLE="$python" > "$folder/configure.log" 2>&1; then
  cat "$folder/configure.log"
  exit 1
fi
grep -A 3 'CMake Warning' "$folder/configure.log" || true
echo "$python" > "$folder/python.txt"
