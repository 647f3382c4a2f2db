"""The way of an upgrade stands in every form of a comparison, and in the line on top."""

import pytest
from rich.console import Console

from headgate.rules.core.report import Report, Upgrade, UpgradeWay
from headgate.views.reports.comparison import comparison_document
from headgate.views.reports.comparison_json import report_json
from headgate.views.reports.document_markdown import markdown_text
from headgate.views.reports.document_terminal import terminal_text
from headgate.views.reports.verdict_line import HEADLINES, verdict

STEPS = ("Stop all instances.", "Start the new version.")


def report(way: UpgradeWay) -> Report:
    return Report(upgrade=Upgrade(way, STEPS, "The sub-topologies differ."))


@pytest.mark.parametrize("way", UpgradeWay)
def test_every_form_names_the_way_and_its_steps_in_order(way):
    console = Console(width=200, record=True, file=None, quiet=False)
    with console.capture() as shown:
        console.print(terminal_text(comparison_document(report(way))))
    for text in (shown.get(), markdown_text(comparison_document(report(way)))):
        assert HEADLINES[way] in text
        assert text.index(f"1. {STEPS[0]}") < text.index(f"2. {STEPS[1]}")
    assert report_json(report(way))["upgrade"] == {
        "way": way.value,
        "steps": list(STEPS),
        "why": "The sub-topologies differ.",
    }


def test_the_line_on_top_says_the_way_unless_a_question_is_open():
    said = {way: verdict(report(way)).sentence for way in UpgradeWay}
    assert all((HEADLINES[w] in s) is (w is not UpgradeWay.UNKNOWN) for w, s in said.items())


def test_an_engine_with_one_way_says_none():
    assert report_json(Report())["upgrade"] is None
    assert "###" not in markdown_text(comparison_document(Report()))
