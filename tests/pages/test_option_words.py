"""The page names its labels where the command line names options."""

from __future__ import annotations

import pytest

from headgate.reprocess.scenario import Kind
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.ui.reprocess.option_words import as_asked, example, on_card, page_help

SAID = [
    (
        "choose with --no-record whether the partition moves",
        "choose with “Partitions without a record at or after the time” whether the partition "
        "moves",
    ),
    (
        "--to-datetime: expected a time",
        "“Time”: expected a time",
    ),
    (
        "rows as for `kafka-consumer-groups --from-file`, see --from-file",
        "rows as for `kafka-consumer-groups --from-file`, see “File of offsets”",
    ),
    (
        "choose `--no-record` and `--topic A`",
        "choose “Partitions without a record at or after the time” and `“Topics or partitions "
        "(default: all)” A`",
    ),
    ("leave --unknown-option and a--topic-b alone", "leave --unknown-option and a--topic-b alone"),
]


@pytest.mark.parametrize(("text", "shown"), SAID)
def test_a_label_stands_where_its_option_is_named(text, shown):
    assert as_asked(text, "from-point") == shown
    assert as_asked(text, None) == as_asked(text, "undo") == text


@pytest.mark.parametrize(
    ("option", "label"),
    [
        ("--to-earliest", "“Earliest offsets, with empty state”"),
        (
            "--at=2026-04-02T12:00Z",
            "“Record timestamp in the first pipeline's input” 2026-04-02T12:00Z",
        ),
    ],
)
def test_a_chain_is_offered_by_its_form(option, label):
    said = f"too, run `headgate plan chain 'the first' {option}`. More"
    assert as_asked(said, "rewind") == f"too, plan “Chain” with {label}. More"
    assert as_asked("use `headgate plan chain`", "rewind") == "use `headgate plan chain`"


def test_every_text_that_is_asked_for_shows_what_an_answer_looks_like():
    forms = {
        o.metavar: example(o)
        for name in SCENARIOS
        for o in SCENARIOS[name].options
        if o.kind in (Kind.TEXT, Kind.MANY) and o.metavar and o.ask
    }
    assert len(forms) > 8 and all(forms.values()), forms
    assert not any(form in shown for form, shown in forms.items())


def test_a_label_says_what_is_chosen():
    labels = [o.ask for name in SCENARIOS for o in SCENARIOS[name].options]
    assert not [label for label in labels if label.endswith("?") or len(label) > 55]


def test_the_help_of_a_field_says_how_to_give_several_values():
    topic = SCENARIOS["from-point"].option("topic")
    assert page_help(topic, "from-point") == (
        "Change offsets only in this topic, or only in these partitions of the topic. Separate "
        "several values with spaces. Put a value with a space in double quotes."
    )
    for name, scenario in SCENARIOS.items():
        helps = [page_help(option, name) for option in scenario.options]
        assert not [text for text in helps if "be repeated" in text or "Pass this" in text]


def test_the_help_of_a_field_names_other_fields_by_their_labels():
    failing = SCENARIOS["historical-range"].option("max-failing")
    assert page_help(failing, "historical-range") == (
        "Maximum number of records for “Dead letter topic for failing records” (default 100). If "
        "more records fail, the run stops."
    )


def test_a_card_names_other_scenarios_by_their_titles():
    said = "use from-point with --to-datetime, from-scratch, or `headgate plan from-point x`"
    assert on_card(said, "late-batch") == (
        "use “From an offset or time” with “Time”, “From scratch”, or `headgate plan from-point x`"
    )
    assert on_card("With `--deployed`, only rewind", "offline-upgrade") == (
        "With “Run no deploy command”, only rewind"
    )
