"""Read many damaged inputs of every kind; whatever raises another error than ours is a defect.

    python scripts/fuzz.py [--inputs 200000] [--minutes 120] [--kind KIND] [--table docs/fuzz.md]

Each kind has as many inputs. A failure is kept once per line of the code, in `.cache/fuzz`; the
end names them, and what to keep as a regression test (`tests/golden/fuzz/KIND`).
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "lib")]
BATCH = 250
FOUND = ROOT / ".cache" / "fuzz"


def batch(kind: str, number: int) -> tuple[str, int, dict[str, str]]:
    """Read one batch of inputs; return the number of failures, and each one's line and file."""
    from hypothesis import HealthCheck, Phase, given, seed, settings

    from support.fuzzing import damaged, fault_of

    count, failed = 0, {}

    @seed(number)
    @settings(
        max_examples=BATCH,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(damaged(kind))
    def read(data: bytes) -> None:
        nonlocal count
        count += 1
        if (fault := fault_of(kind, data)) is not None:
            place = fault.partition(" (")[0]
            if place not in failed:
                failed[place] = _kept(kind, data)

    read()
    return kind, count, failed


def _kept(kind: str, data: bytes) -> str:
    file = FOUND / kind / hashlib.sha256(data).hexdigest()[:12]
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return str(file.relative_to(ROOT))


def main() -> int:
    """Fuzz until the inputs are read or the time is over; 1 if something failed."""
    from support.fuzzing import KINDS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--inputs", type=int, default=200_000, help="inputs to read in all")
    parser.add_argument("--minutes", type=float, default=240, help="time limit in minutes")
    parser.add_argument("--kind", choices=KINDS, action="append", help="a kind (default all)")
    parser.add_argument(
        "--seed",
        type=int,
        default=int(time.time()),
        help="seed of the first batch; each next adds 1",
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count(), help="processes")
    parser.add_argument("--table", type=Path, help="page that gets the outcome")
    asked = parser.parse_args()
    kinds = asked.kind or KINDS
    jobs = [kinds[n % len(kinds)] for n in range(-(-asked.inputs // BATCH))]
    counts, failed = dict.fromkeys(kinds, 0), dict[str, dict[str, str]]()
    end = time.monotonic() + asked.minutes * 60
    with ProcessPoolExecutor(asked.processes) as pool:
        running = {pool.submit(batch, kind, asked.seed + n) for n, kind in enumerate(jobs)}
        for n, done in enumerate(as_completed(running)):
            if time.monotonic() > end:
                pool.shutdown(cancel_futures=True)
                break
            kind, count, faults = done.result()
            counts[kind] += count
            for place, file in faults.items():
                if place not in failed.setdefault(kind, {}):
                    failed[kind][place] = file
                    print(f"{kind}: {place}: {file}", flush=True)
            if n % 20 == 19:
                print(f"{sum(counts.values())} inputs read", flush=True)
    places = sum(map(len, failed.values()))
    print(json.dumps({"inputs": counts, "total": sum(counts.values()), "failures": failed}))
    if asked.table:
        asked.table.write_text(_page(counts, places))
    return 1 if places else 0


def _page(counts: dict[str, int], places: int) -> str:
    day = datetime.now(UTC).date().isoformat()
    rows = "".join(f"| {kind} | {count:,} |\n" for kind, count in counts.items())
    return (
        "# Damaged inputs\n\n"
        "`make fuzz` damages recorded inputs of every kind and reads them. For each input,\n"
        "Headgate must return a result or one of its own errors. Any other exception is a defect.\n"
        "`tests/golden/fuzz` has the inputs that once caused a defect. `make test` reads them.\n"
        "\n"
        f"Run of {day}: {sum(counts.values()):,} inputs,"
        f" {places} unexpected exceptions.\n\n"
        "| kind of input | inputs |\n|---|---|\n" + rows
    )


if __name__ == "__main__":
    sys.exit(main())
