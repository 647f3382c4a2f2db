#!/bin/sh
# Bring everything that Headgate needs into this clone: `sh scripts/setup.sh STAGE...`.
# Stages: python, jars, stores, postgres, browser (see setup.py). What is there already costs nothing.
set -eu
here=$(dirname "$0")

for python in "${PYTHON:-}" python3 python3.14 python3.13 python3.12 python3.11 python; do
    [ -n "$python" ] || continue
    if "$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then
        exec "$python" "$here/setup.py" "$@"
    fi
done
echo "Headgate needs Python 3.11 or newer, and there is none on the PATH: install it (Debian, Ubuntu: sudo apt install python3 python3-venv), or name it: make PYTHON=/path/to/python3 ..." >&2
exit 1
