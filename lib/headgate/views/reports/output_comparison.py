"""A comparison of two outputs as JSON and as lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from headgate.model.output_comparison import OutputComparison, SampleRow
from headgate.text.numbers import plural

_ROWS = 10
KIND_WORDS = {"missing": "only in A", "extra": "only in B", "different": "different"}


def comparison_json(found: OutputComparison) -> dict[str, Any]:
    """Return the fields of `headgate compare-output --format json`."""
    return {
        "equal": found.equal,
        "a": found.a,
        "b": found.b,
        "rows": {"a": found.rows_a, "b": found.rows_b},
        "missing": found.missing,
        "extra": found.extra,
        "different": found.different,
        "columns": [asdict(column) for column in found.columns],
        "samples": [asdict(sample) for sample in found.samples],
        "keys": found.keys,
        "ignored": found.ignored,
        "tolerance": found.tolerance,
        "notes": found.notes,
    }


def headline(found: OutputComparison) -> str:
    """Return the result as a sentence."""
    if found.equal:
        return f"The outputs are equal: {plural(found.rows_a, 'row')}."
    parts = (
        (found.missing, "missing in B"), (found.extra, "extra in B"), (found.different, "different")
    )  # fmt: skip
    said = ", ".join(f"{plural(n, 'row', f'{n:,}')} {word}" for n, word in parts if n)
    return f"The outputs differ: {said}."


def counts(found: OutputComparison) -> Iterator[tuple[str, str]]:
    """Yield a name and a number for each count."""
    yield "Rows in A", f"{found.rows_a:,}"
    yield "Rows in B", f"{found.rows_b:,}"
    yield "Missing (only in A)", f"{found.missing:,}"
    yield "Extra (only in B)", f"{found.extra:,}"
    yield "Different", f"{found.different:,}"


def comparison_lines(found: OutputComparison) -> Iterator[str]:
    """Yield what `headgate compare-output` prints."""
    yield headline(found)
    yield f"A: {found.a}"
    yield f"B: {found.b}"
    for name, number in counts(found):
        yield f"  {name + ':':21}{number:>14}"
    differing = [c for c in found.columns if c.different]
    if differing:
        yield "\nDifferent rows by column:"
        for column in sorted(differing, key=lambda c: -c.different):
            yield f"  {column.name}: {column.different:,}"
    if found.samples:
        yield f"\nSamples ({min(len(found.samples), _ROWS)} of {len(found.samples)}):"
        for sample in found.samples[:_ROWS]:
            yield f"  {sample_line(sample)}"
    for note in found.notes:
        yield f"Note: {note}"


def sample_line(sample: SampleRow) -> str:
    """Return a sample as one line: `id=7: amount 3.5 -> 4.5`."""
    key = ", ".join(f"{name}={value_text(value)}" for name, value in sample.key.items())
    if sample.a is not None and sample.b is not None:
        changes = (
            f"{name} {value_text(sample.a[name])} -> {value_text(sample.b[name])}"
            for name in sample.columns
        )
        return f"{key}: {', '.join(changes)}"
    row: Mapping[str, Any] = (sample.a if sample.a is not None else sample.b) or {}
    values = ", ".join(f"{name}={value_text(value)}" for name, value in row.items())
    return f"{key}: {KIND_WORDS[sample.kind]}" + (f" ({values})" if values else "")


def value_text(value: Any) -> str:
    """Return a value as JSON shows it, texts without quotes."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
