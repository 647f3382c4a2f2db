"""A risk that a plan can name: one text with gaps, for the plan and for the docs."""

from __future__ import annotations

import re
from collections.abc import Iterable
from string import Formatter


class Risk:
    """A sentence with named gaps, as in `{topic} is compacted`.

    Called with a value for each gap, it returns the sentence of a plan. `shown` is the sentence of
    the docs: there a gap is its name in capitals, or the word that `words` gives it. What is the
    same in every plan needs no gap.
    """

    __slots__ = ("shown", "text", "words")

    def __init__(self, text: str, **words: str) -> None:
        self.text = text
        self.words = words
        self.shown = text.format_map(_Words(words))

    def __call__(self, **values: object) -> str:
        """Return the sentence; KeyError names a gap without a value.

        A gap gets its word of the docs if its value is None: no gap that is forgotten does.
        """
        said = {gap: self.words.get(gap) if v is None else v for gap, v in values.items()}
        return self.text.format_map(said)

    def is_of(self, sentence: str, **values: str) -> bool:
        """Say whether a call of it can have returned the sentence, with these values in its gaps.

        A gap without a value can be any text.
        """
        parts = (
            re.escape(text)
            + ("" if gap is None else re.escape(values[gap]) if gap in values else ".*")
            for text, gap, _, _ in Formatter().parse(self.text)
        )
        return re.fullmatch("".join(parts), sentence, re.DOTALL) is not None

    def __repr__(self) -> str:
        return f"Risk({self.text!r})"


def without(sentences: Iterable[str], *risks: Risk, **values: str) -> tuple[str, ...]:
    """Return the sentences that none of the risks can have said, with these values in its gaps."""
    return tuple(s for s in sentences if not any(r.is_of(s, **values) for r in risks))


class _Words(dict[str, str]):
    def __missing__(self, gap: str) -> str:
        return gap.upper()
