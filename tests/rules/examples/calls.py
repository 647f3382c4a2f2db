"""Unit tests of Kafka Streams' rules as examples: each is called, and what it compared is kept."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Container, Iterator
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import patch

from headgate.rules.core.report import Finding
from headgate.rules.kafka_streams.codes import RULES
from headgate.rules.kafka_streams.facts.rule import StreamsComparison, StreamsRule

from .tables import Example, Row, compared_example, import_tests

_TESTS = ("test_same_description", "test_other_facts")


def call_examples(codes: Container[str]) -> dict[str, Example]:
    """Return an example of each of these rules of which a unit test compares a pair."""
    rows: dict[str, tuple[list[Row], list[Row]]] = {r.code: ([], []) for r in RULES}
    for name in _TESTS:
        for code, speaks, row in _calls(name):
            if code in codes:
                rows[code][not speaks].append(row)
    found = {code: compared_example(code, fires, silent) for code, (fires, silent) in rows.items()}
    return {code: example for code, example in found.items() if example}


def _calls(module: str) -> Iterator[tuple[str, bool, Row]]:
    """Call every test of a module, and yield what each rule was given and whether it spoke."""
    tests = import_tests("kafka_streams", module)
    where = f"tests/rules/kafka_streams/{module}.py"
    kept: list[tuple[str, bool, Row]] = []
    current = where

    run = StreamsRule.run

    def watched(rule: StreamsRule, c: StreamsComparison) -> Iterator[Finding]:
        found = list(run(rule, c))
        kept.append((rule.code, bool(found), Row(current, c.before, c.after, c.cluster)))
        return iter(found)

    with patch.object(StreamsRule, "run", watched):
        for name, test in sorted(vars(tests).items()):
            if name.startswith("test_"):
                current = f"{where}, {name}"
                call_all(test)
    return iter(kept)


def call_all(test: Any) -> None:
    """Call a test with all its parameters; one that needs more than a folder is left out."""
    marks = [m for m in getattr(test, "pytestmark", ()) if m.name == "parametrize"]
    choices = [[_named(m.args[0], values) for values in m.args[1]] for m in marks]
    for chosen in product(*choices):
        given = {k: v for values in chosen for k, v in values.items()}
        needs = inspect.signature(test).parameters.keys() - given.keys()
        if needs <= {"tmp_path"}:
            with tempfile.TemporaryDirectory() as folder:
                test(**given, **dict.fromkeys(needs, Path(folder)))


def _named(names: Any, values: Any) -> dict[str, Any]:
    listed = [n.strip() for n in names.split(",")] if isinstance(names, str) else list(names)
    return dict(zip(listed, values if len(listed) > 1 else (values,), strict=True))
