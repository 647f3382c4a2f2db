"""Output to the terminal: names from outside can't send control sequences.

Lines are cleaned as they are said. What comes by another way (a library's message, a trace) meets
the same rule in the streams, which let through line ends, tabs and colours only.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO, cast

import click

from headgate.text.tables import is_steering, terminal_safe

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from headgate.views.reports.document import Document, SourceLocation

_COLOUR = re.compile(r"(\x1b\[[0-9;]{0,30}m)")


def say(text: str = "", *, err: bool = False) -> None:
    """Print one line; blank lines before it stay, line ends within it are a name's."""
    rest = text.lstrip("\n")
    click.echo("\n" * (len(text) - len(rest)) + terminal_safe(rest), err=err)


def is_interactive() -> bool:
    """Whether a person can answer a question; a script can't."""
    return sys.stdin.isatty()


def terminal_console(*, err: bool = False, **how: Any) -> Console:
    """Return rich's console; texts in what it draws are cleaned, its own colours stay."""
    # Imported here: what prints plain lines does not wait for it.
    from rich.console import Console
    from rich.segment import Segment

    class Cleaned(Console):
        def render(self, *args: Any, **kwargs: Any) -> Iterator[Segment]:
            for segment in super().render(*args, **kwargs):
                if segment.control or not any(map(is_steering, segment.text)):
                    yield segment
                else:
                    yield Segment(_lines(segment.text), segment.style)

        def print(self, *objects: Any, **kwargs: Any) -> None:
            # A text is one line, as for `say`.
            lines = [_one_line(o) if isinstance(o, str) else o for o in objects]
            super().print(*lines, **kwargs)

    return Cleaned(stderr=err, highlight=False, **how)


def print_rich(what: RenderableType) -> None:
    """Print what rich draws; a line that is too long is left to the terminal."""
    terminal_console(soft_wrap=True).print(what)


def show_document(
    document: Document,
    form: str,
    *,
    location: SourceLocation | None = None,
    rules_url: str | None = None,
) -> None:
    """Print a report as `text`, `markdown`, `sarif` or `junit`."""
    if form == "text":
        from headgate.views.reports.document_terminal import terminal_text

        print_rich(terminal_text(document))
    else:
        from headgate.views.reports.formats import write_document

        click.echo(write_document(document, form, location=location, rules_url=rules_url), nl=False)


def _one_line(text: str) -> str:
    rest = text.lstrip("\n")
    return "\n" * (len(text) - len(rest)) + terminal_safe(rest)


@contextmanager
def guarded() -> Iterator[None]:
    """Let nothing that steers a terminal through stdout and stderr."""
    before = sys.stdout, sys.stderr
    sys.stdout, sys.stderr = (cast("TextIO", _Stream(s)) for s in before)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


class _Stream:
    """A text stream whose writes are cleaned; everything else is the stream's own."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write without what steers; the length is the given text's."""
        self._stream.write(_cleaned(text))
        return len(text)

    def writelines(self, lines: Any) -> None:
        """Write each of the lines."""
        for line in lines:
            self.write(line)


def _cleaned(text: str) -> str:
    """Return the text with line ends, tabs and colours, without anything else that steers."""
    if not any(map(is_steering, text)):
        return text
    parts = _COLOUR.split(text)
    # Every second part is a colour.
    return "".join(p if n % 2 else _lines(p) for n, p in enumerate(parts))


def _lines(text: str) -> str:
    return "".join(c if c in "\n\t" or not is_steering(c) else terminal_safe(c) for c in text)
