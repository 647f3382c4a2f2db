"""Copy only the evidence of measured cases into `tests/cases`: `copy_cases.py FROM INTO`.

FROM is a folder of cases (CASE/before, CASE/after, CASE/outcome.json), INTO where they go. Plans,
captures, settings, progress, and of each checkpoint the metadata, state schemas, logs of offsets,
commits and sources are kept; the state's data files and the queries' source code are not.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

STATE_DATA = (".delta", ".zip", ".snapshot", ".changelog", ".compact", ".sst", ".dat", ".crc")
NO_EVIDENCE = ("query.py",)


def is_kept(file: Path) -> bool:
    """Say whether a file of a case is evidence that decides something."""
    if file.name in NO_EVIDENCE:
        return False
    is_state = "state" in file.parts
    # RocksDB writes `0_<id>.zip` and, with lineage, `1.14.zip.<id>`.
    return not (is_state and any(part in file.name for part in STATE_DATA))


def copy_case(case: Path, into: Path) -> int:
    """Replace one case's copy; return how many files it has."""
    shutil.rmtree(into, ignore_errors=True)
    kept = [f for f in sorted(case.rglob("*")) if f.is_file() and is_kept(f.relative_to(case))]
    for file in kept:
        target = into / file.relative_to(case)
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, target)
    return len(kept)


def main() -> None:
    """Copy every case of a folder, and say how many files they have."""
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    source, into = map(Path, sys.argv[1:])
    cases = sorted(p.parent for p in source.glob("*/outcome.json"))
    if not cases:
        sys.exit(f"{source} holds no cases: no CASE/outcome.json")
    files = sum(copy_case(case, into / case.name) for case in cases)
    print(f"{len(cases)} cases, {files} files")


if __name__ == "__main__":
    main()
