"""The texts that compiled Java code compares with something, as filters and branches do.

Nothing is executed: a text constant counts if the next instruction, or the one after a load of
one variable, calls one of `_COMPARING`. (Java Virtual Machine Specification, chapters 4.4 and 6.5.)
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

_MAGIC = b"\xca\xfe\xba\xbe"
_UTF8, _STRING, _NAME_AND_TYPE = 1, 8, 12
_METHODS = (10, 11)
_TWO_ENTRIES = (5, 6)
# Bytes behind the tag of each kind of constant.
_SIZES = {3: 4, 4: 4, 5: 8, 6: 8, 7: 2, 8: 2, 9: 4, 10: 4, 11: 4, 12: 4, 15: 3, 16: 2, 17: 4,
          18: 4, 19: 2, 20: 2}  # fmt: skip
_COMPARING = frozenset(
    ("equals", "equalsIgnoreCase", "startsWith", "endsWith", "contains", "compareTo", "indexOf",
     "matches", "of", "asList")
)  # fmt: skip
# ldc or ldc_w, perhaps one load of a local variable, then a call.
_COMPARED = re.compile(
    rb"(?=(?:\x12(?P<short>.)|\x13(?P<wide>..))(?:[\x2a-\x2d]|\x19.)?[\xb6\xb8\xb9](?P<method>..))",
    re.DOTALL,
)
_LONGEST = 40


def words_of(classes: Iterable[bytes]) -> list[str]:
    """Return the texts that these class files compare with something, each once, in order."""
    return list(dict.fromkeys(text for content in classes for text in _compared(content)))


@dataclass(slots=True)
class _Pool:
    """A class's constants by their index."""

    texts: dict[int, bytes] = field(default_factory=dict)
    strings: dict[int, int] = field(default_factory=dict)
    names: dict[int, int] = field(default_factory=dict)
    methods: dict[int, int] = field(default_factory=dict)

    def text(self, index: int) -> str:
        """Return a text; Java's own encoding is UTF-8 but for other planes and NUL."""
        return self.texts.get(self.strings.get(index, 0), b"").decode("utf-8", errors="ignore")

    def method(self, index: int) -> str:
        name = self.names.get(self.methods.get(index, 0), 0)
        return self.texts.get(name, b"").decode("utf-8", errors="ignore")


def _compared(content: bytes) -> Iterator[str]:
    """Yield the compared texts of one class file; nothing if the content isn't one."""
    if content[:4] != _MAGIC:
        return
    try:
        pool, end = _pool(content)
    except (struct.error, KeyError, IndexError):
        return
    for found in _COMPARED.finditer(content, end):
        index = found["short"] or found["wide"]
        text = pool.text(int.from_bytes(index))
        if 0 < len(text) <= _LONGEST and pool.method(int.from_bytes(found["method"])) in _COMPARING:
            yield text


def _pool(content: bytes) -> tuple[_Pool, int]:
    """Return the constants, and where they end."""
    (count,) = struct.unpack_from(">H", content, 8)
    pool = _Pool()
    at, index = 10, 1
    while index < count:
        tag = content[at]
        first = struct.unpack_from(">H", content, at + 1)[0]
        if tag == _UTF8:
            pool.texts[index] = content[at + 3 : at + 3 + first]
            at += 3 + first
        else:
            if tag == _STRING:
                pool.strings[index] = first
            elif tag == _NAME_AND_TYPE:
                pool.names[index] = first
            elif tag in _METHODS:
                pool.methods[index] = struct.unpack_from(">H", content, at + 3)[0]
            at += 1 + _SIZES[tag]
        index += 2 if tag in _TWO_ENTRIES else 1
    return pool, at
