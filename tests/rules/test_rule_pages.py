"""Every rule has a page in docs/rules that says what the rule says: `make docs` writes them."""

import importlib.util
import re
from pathlib import Path

import pytest

from headgate.rules.catalogue import all_rules, rules_by_kind

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
HEADINGS = ("What it does", "Why is this bad?", "Example", "What to do", "Source")


def load_script():
    spec = importlib.util.spec_from_file_location("rule_pages", ROOT / "scripts/rule_pages.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()


@pytest.fixture(scope="module")
def pages():
    """Every page: they take seconds, which whoever only collects these tests need not wait for."""
    return SCRIPT.pages()


def test_the_pages_are_current(pages):
    assert SCRIPT.stale(pages) == [], "run `make docs`"


def test_a_code_is_one_rules():
    codes = [r.code for r in all_rules()]
    assert sorted(codes) == sorted(set(codes))
    assert all(rules_by_kind().values())


@pytest.mark.parametrize("rule", all_rules(), ids=lambda r: r.code)
def test_a_page_says_what_it_notices_what_it_can_say_and_how_it_is_known(rule, pages):
    page = pages[f"{rule.code}.md"]
    said, to_do = page.split("## Outcomes")[1].split("## What to do")
    assert "- `" in said
    # A finding that loses something never needs no action.
    bad = ("refuses", "silently_wrong", "high", "incompatible", "unknown")
    assert "No action needed" not in to_do or not any(f"`{word}`" in said for word in bad)
    shown = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    assert [heading for heading in shown if heading in HEADINGS] == list(HEADINGS)
    assert "To check again:\n\n```sh\nheadgate " in page
    words = " ".join(page.split())
    assert all(sentence in words for sentence in rule.why.split(". ")[:1])


@pytest.mark.parametrize("rule", all_rules(), ids=lambda r: r.code)
def test_a_page_shows_what_the_rule_reports_and_what_passes(rule, pages):
    example = pages[f"{rule.code}.md"].split("## Example")[1].split("## Outcomes")[0]
    halves = re.split(r"^\*\*(Reported|Passes)\*\*: ", example, flags=re.MULTILINE)
    assert halves[1::2] == ["Reported", "Passes"]
    for half in halves[2::2]:
        assert re.search(r"^```(?:diff|text)\n(?:.+\n)+```$", half, re.MULTILINE)


@pytest.mark.parametrize(
    ("lines", "shown"),
    [
        (["+ spark.sql.a: 1"], ["- spark.sql.a: (not set)", "+ spark.sql.a: 1"]),
        (["- group.protocol: x"], ["- group.protocol: x", "+ group.protocol: (not set)"]),
        (["- keys: s0.k"], ["- keys: s0.k", "+ keys: (not shown)"]),
        (["- a: 1", "+ a: 2"], ["- a: 1", "+ a: 2"]),
        (["+ Filter Condition : isnotnull(k)"], ["+ Filter Condition : isnotnull(k)"]),
        (["- metadata"], ["- metadata"]),
        (["  Kafka: at: 1"], ["  Kafka: at: 1"]),
    ],
)
def test_a_setting_of_one_version_shows_both_sides(lines, shown):
    assert SCRIPT._both_sides(lines) == shown


def test_each_recorded_restart_that_a_page_shows_has_a_caption_and_no_other():
    shown = {
        side["case"]
        for example in SCRIPT.examples().values()
        for side in (example["reported"], example["passes"])
        if side["case"].startswith(SCRIPT.RECORDED)
    }
    assert SCRIPT.captions().keys() == shown
    assert all(text.endswith(".") for text in SCRIPT.captions().values())


@pytest.mark.parametrize(
    ("code", "title"),
    [
        ("KST040", "input added"),
        ("RDY085", "leftover upgrade.from"),
        ("RDY050", "foreachBatch sink"),
        ("TWN011", "Kafka Streams fails to start"),
        ("CFG008", "ANSI mode"),
    ],
)
def test_a_title_writes_names_as_the_engines_do(code, title):
    assert next(r.title for r in all_rules() if r.code == code) == title
