"""The page speaks of its questions where the command line speaks of options."""

from __future__ import annotations

import pytest

from headgate.reprocess.scenario import Kind
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.ui.reprocess.option_words import as_asked, example

SAID = [
    (
        "choose with --no-record whether the partition moves",
        "choose with “What if a partition has no record at or after the time?” whether the "
        "partition moves",
    ),
    (
        "--to-datetime: expected a time",
        "“At which time should the pipeline start?”: expected a time",
    ),
    ("leave --unknown-option and a--topic-b alone", "leave --unknown-option and a--topic-b alone"),
]


@pytest.mark.parametrize(("text", "shown"), SAID)
def test_a_question_stands_where_its_option_is_named(text, shown):
    assert as_asked(text, "from-point") == shown
    assert as_asked(text, None) == as_asked(text, "undo") == text


def test_every_text_that_is_asked_for_shows_what_an_answer_looks_like():
    forms = {
        o.metavar: example(o)
        for name in SCENARIOS
        for o in SCENARIOS[name].options
        if o.kind in (Kind.TEXT, Kind.MANY) and o.metavar and o.ask
    }
    assert len(forms) > 8 and all(forms.values()), forms
    assert not any(form in shown for form, shown in forms.items())
