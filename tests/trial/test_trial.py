"""A sample of the trial: the rest is `make trial`."""

from __future__ import annotations

from pathlib import Path

import pytest

from trial.cases import CASES, SAMPLE, Case
from trial.reader import Counts, count_ids
from trial.trial import attempt


def _marked(case: Case) -> object:
    marks = [pytest.mark.kafka] + ([pytest.mark.spark] if case.kind.engine == "spark" else [])
    if case.kind.engine == "spark":
        marks.append(pytest.mark.long)
    return pytest.param(case, id=case.name, marks=marks)


@pytest.mark.parametrize("case", [_marked(c) for c in CASES if c.name in SAMPLE])
def test_outputs_are_as_the_plan_says(case: Case, broker: str, tmp_path: Path) -> None:
    result = attempt(case, tmp_path, broker)

    assert not result.issues, result


def test_every_sample_is_a_case() -> None:
    assert set(SAMPLE) <= {case.name for case in CASES}


def test_ids_are_counted() -> None:
    assert count_ids(["a", "b", "c"], ["a", "b", "b", "b"]) == Counts(lost=1, repeated=2)
