"""Stop, start or ask for a pipeline of the running stack; the stack owns the processes.

`python -m headgate.local.demo.control stop|start|status NAME --home DIR [--entry-point M:F]`.
`stop` and `start` return once it is done. Exit codes: 0 done or running, 3 not running (of
`status`), 1 it did not work.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from headgate.local.stack.switchboard import Answer, ask

_NOT_RUNNING = 3


def main() -> int:
    """Ask the stack, print its answer, return the exit code."""
    parser = argparse.ArgumentParser(prog="control")
    parser.add_argument("do", choices=("stop", "start", "status"))
    parser.add_argument("name")
    parser.add_argument("--home", type=Path, required=True)
    parser.add_argument(
        "--entry-point", help="entry point (module:function) of `start` (default: v1)"
    )
    given = parser.parse_args()
    answer = ask(given.home, given.do, given.name, entry_point=given.entry_point)
    print(answer.message, file=sys.stdout if answer.ok else sys.stderr)
    return exit_code(given.do, answer)


def exit_code(do: str, answer: Answer) -> int:
    """Return 0 where the wish is fulfilled; without a stack everything is stopped already."""
    if do == "status" and answer.ok:
        return 0 if answer.running else _NOT_RUNNING
    return 0 if answer.ok else 1


if __name__ == "__main__":
    sys.exit(main())
