#!/bin/sh
# Write requirements.txt and requirements-dev.txt anew from pyproject.toml. Pins that still fit
# stay; `sh scripts/lock.sh --upgrade` takes the newest ones.
set -eu
cd "$(dirname "$0")/.."
uv=.venv/bin/uv
pins=$(mktemp -d)
trap 'rm -rf "$pins"' EXIT
compile() { "$uv" pip compile --quiet --universal --python-version 3.11 --no-annotate --no-header "$@"; }

for file in requirements requirements-dev; do
    grep '==' "$file.txt" >"$pins/$file" 2>/dev/null || :
done
compile pyproject.toml -o "$pins/requirements" "$@"
compile --group dev -c "$pins/requirements" -o "$pins/requirements-dev" "$@"
{ echo "-e ."; cat "$pins/requirements"; } >requirements.txt
{ echo "-r requirements.txt"; grep -vxFf "$pins/requirements" "$pins/requirements-dev"; } >requirements-dev.txt
