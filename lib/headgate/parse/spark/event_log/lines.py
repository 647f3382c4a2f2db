"""Cut an event log into lines, and find an event's kind in the first bytes of its line."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

LONGEST = 64 << 20
_HEAD = 4096
_MARK = b"\xef\xbb\xbf"
_BEGIN = b'{"Event":"'
_WORD = len(_BEGIN)
_BLANKS = b"\n" * 4097
_MANY_BLANK = re.compile(rb"\n{4097,}")
_LONGEST_WORD = 200
_EVENT = re.compile(rb'\s*\{(?:[^\n]{0,2000}?,)?\s*"Event"\s*:\s*"([\w.$]{1,200})"')
_SPARKS = re.compile(
    rb'(?m)^[ \t]*\{(?:[^\n]{0,2000}?,)?\s*"Event"\s*:\s*"(?:SparkListener|org\.apache\.spark\.)'
)


def split_lines(chunks: Iterable[bytes], longest: int = LONGEST) -> Iterator[bytes]:
    """Yield the lines without their ends, the last one as far as it goes.

    No more than one line is held. Of a line longer than `longest` bytes only the first 4,096 are
    yielded: its event's kind still shows, and memory stays bounded. More than 4,096 blank lines
    in a row, which no engine writes, count as one.
    """
    held: list[bytes] = []
    size = 0
    for number, chunk in enumerate(chunks):
        text = chunk if number else chunk.removeprefix(_MARK)
        if _BLANKS in text:
            text = _MANY_BLANK.sub(b"\n\n", text)
        first, *rest = text.split(b"\n")
        if size <= longest:
            held.append(first)
        size += len(first)
        if not rest:
            continue
        yield _whole(held, size, longest)
        last = rest.pop()
        yield from rest
        held, size = [last], len(last)
    if size:
        yield _whole(held, size, longest)


def _whole(held: list[bytes], size: int, longest: int) -> bytes:
    line = held[0] if len(held) == 1 else b"".join(held)
    return line if size <= longest else line[:_HEAD]


def kind_of(line: bytes) -> bytes | None:
    """Return an event's kind, None if the line isn't an event; nothing is decoded for it.

    Spark writes `Event` first; a log that another program rewrote may have it later in the line.
    """
    if line.startswith(_BEGIN):
        end = line.find(b'"', _WORD, _WORD + _LONGEST_WORD)
        return line[_WORD:end] if end > 0 else None
    match = _EVENT.match(line, 0, _HEAD)
    return match[1] if match else None


def holds_events(head: bytes) -> bool:
    """Whether the first bytes of a file have a line with an event of Spark's."""
    return bool(_SPARKS.search(head.removeprefix(_MARK)))
