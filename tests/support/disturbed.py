"""What logs, terminals, pages and people do to explain text, by name."""

from __future__ import annotations

import json
import textwrap
from collections.abc import Callable


def wrapped(text: str, width: int) -> str:
    """Break lines as a terminal of that width does."""
    return "\n".join(
        line[at : at + width]
        for line in text.split("\n")
        for at in (range(0, len(line), width) if line else (0,))
    )


def each(text: str, line: Callable[[int, str], str]) -> str:
    return "".join(f"{line(n, found)}\n" for n, found in enumerate(text.split("\n")))


def _tabs(line: str) -> str:
    blanks = len(line) - len(line.lstrip(" "))
    return "\t" * (blanks // 8) + " " * (blanks % 8) + line.lstrip(" ")


def _logged(number: int, line: str) -> str:
    return f"26/11/21 08:{number // 60:02}:{number % 60:02} INFO MicroBatchExecution: {line}"


DISTURBED: dict[str, Callable[[str], str]] = {
    "colours": lambda t: each(t, lambda n, x: f"\x1b[32m{x}\x1b[0m"),
    "carriage returns": lambda t: t.replace("\n", "\r\n"),
    "byte order mark": lambda t: "\ufeff" + t,
    "indented": lambda t: textwrap.indent(t, "      "),
    "indented by a tab": lambda t: textwrap.indent(t, "\t"),
    "blanks to tabs": lambda t: each(t, lambda n, x: _tabs(x)),
    "odd blanks": lambda t: t.replace(" ", "\xa0"),
    "blanks at the end": lambda t: each(t, lambda n, x: f"{x}   "),
    "double spaced": lambda t: t.replace("\n", "\n\n"),
    "a log's lines": lambda t: each(t, _logged),
    "a log's message": lambda t: f"{_logged(0, t)}\n{_logged(1, 'done')}\n",
    "a container's lines": lambda t: each(
        t, lambda n, x: f"2026-11-21T08:00:{n % 60:02}.{n:03}Z stdout F {x}"
    ),
    "a pod's lines": lambda t: each(t, lambda n, x: f"driver-3f2a9c{n:02} | [{n}] {x}"),
    "a log between": lambda t: t.replace("\n   +- ", "\n26/11/21 08:00:00 WARN Foo: (bar\n   +- "),
    "a log wrapped": lambda t: wrapped(each(t, _logged), 120),
    "quoted": lambda t: each(t, lambda n, x: f"> {x}".rstrip()),
    "suspended": lambda t: f"Here it is:\n\n```\n{t}\n```\nWhat do you say?\n",
    "a table": lambda t: f"+---+\n{each(t, lambda n, x: f'| {x:<2000} |')}",
    "a Markdown table": lambda t: each(t, lambda n, x: f"| {x} |"),
    "shown": lambda t: "+----+\n|plan|\n+----+\n|" + t.replace("\n", "\\n") + "|\n+----+\n",
    "a JSON log": lambda t: "".join(
        f"{json.dumps(o)}\n" for o in ({"level": "INFO", "message": t}, {"message": "done"})
    ),
    "a JSON log of lines": lambda t: each(t, lambda n, x: json.dumps({"log": f"{x}\n", "n": n})),
    "JSON in a line": lambda t: f'08:00:01 driver {{"a": 1, "message": {json.dumps(t)}, "b": 2}}\n',
    "a JSON string": json.dumps,
    "a Python string": repr,
    "a notebook": lambda t: json.dumps({"cells": [{"text": t.splitlines(keepends=True)}]}),
    **{
        f"{width} columns": lambda t, width=width: wrapped(t, width)
        for width in (80, 100, 120, 132, 160, 200)
    },
    "80 columns, trimmed": lambda t: each(wrapped(t, 80), lambda n, x: x.rstrip()),
}
