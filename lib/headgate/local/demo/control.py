"""Stop, start or query a pipeline of the running stack; the stack owns the processes.

`python -m headgate.local.demo.control DO NAME --home DIR [--entry-point M:F]`; DO is `stop`,
`start`, `status`, `deploy` or `rollback`. `stop` and `start` return once it is done. `deploy` lets
later starts use the function that HEADGATE_MESSAGE names, `rollback` the first one again. Exit
codes: 0 done or running, 3 not running (of `status`), 1 it did not work.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

from headgate.local.demo.pipelines import PIPELINES
from headgate.local.stack.process_control import Answer, ask

_NOT_RUNNING = 3
_FUNCTION = re.compile(r"[\w.]+:\w+")


def main() -> int:
    """Ask the stack, print its answer, return the exit code."""
    parser = argparse.ArgumentParser(prog="control")
    parser.add_argument("do", choices=("stop", "start", "status", "deploy", "rollback"))
    parser.add_argument("name")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument(
        "--entry-point", help="entry point (module:function) that `start` runs (default: v1)"
    )
    given = parser.parse_args()
    if given.do in ("deploy", "rollback"):
        return deploy(given.home, given.name, os.environ.get("HEADGATE_MESSAGE", ""), given.do)
    answer = ask(given.home, given.do, given.name, entry_point=given.entry_point)
    print(answer.message, file=sys.stdout if answer.ok else sys.stderr)
    return exit_code(given.do, answer)


def deploy(home: Path, name: str, entry_point: str, do: str) -> int:
    """Choose the function that the next start of a pipeline runs; return the exit code."""
    pipeline = next((p for p in PIPELINES if p.name == name and p.entry_point), None)
    if pipeline is None:
        print(f"the demo has no query {name}", file=sys.stderr)
        return 1
    file = pipeline.deployed(home)
    if do == "rollback":
        file.unlink(missing_ok=True)
        print(f"the next start of {name} runs {pipeline.entry_point}")
        return 0
    if not _FUNCTION.fullmatch(entry_point):
        print(f"HEADGATE_MESSAGE: expected MODULE:FUNCTION, found {entry_point!r}", file=sys.stderr)
        return 1
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(entry_point, encoding="utf-8")
    print(f"the next start of {name} runs {entry_point}")
    return 0


def exit_code(do: str, answer: Answer) -> int:
    """Return 0 where the wish is fulfilled; without a stack everything is stopped already."""
    if do == "status" and answer.ok:
        return 0 if answer.running else _NOT_RUNNING
    return 0 if answer.ok else 1


if __name__ == "__main__":
    sys.exit(main())
