"""Every page, with nothing loaded and with a seeded store."""

import ast
import re
from pathlib import Path

import pytest

from headgate.parse.config import headgate_toml
from headgate.ui.shared.keys import CompareKey, LandscapeKey, ReprocessKey, TopologyKey
from headgate.ui.shared.no_pipelines import EXAMPLE
from headgate.ui.shared.page import PAGES

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "pages").glob("*.py"))


def text(at):
    """Everything that a page says, without its style sheet."""
    parts = [*at.html, *at.markdown, *at.error, *at.warning, *at.info, *at.caption]
    said = (str(getattr(p, "value", None) or getattr(p, "body", "")) for p in parts)
    return " ".join(s for s in said if not s.startswith("<style>"))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_draws_with_nothing_loaded(name, open_page, empty):
    at = open_page(name)
    assert not at.exception
    assert "hg-empty" in text(at)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_draws_a_seeded_store(name, open_page, seeded):
    at = open_page(name)
    assert not at.exception
    assert not at.error


@pytest.mark.parametrize("name", ["landscape", "topology", "reprocess"])
def test_an_empty_configuration_is_named_with_what_to_add(name, open_page, tmp_path, monkeypatch):
    file = tmp_path / "headgate.toml"
    file.write_text("")
    monkeypatch.setenv("HEADGATE_CONFIG", str(file))
    at = open_page(name)
    assert f"{file} has no pipelines. Add bootstrap_servers under [kafka]" in text(at)
    assert "[[pipeline]]" in at.code[0].value


@pytest.mark.parametrize("name", ["landscape", "topology", "reprocess"])
def test_without_a_configuration_the_folder_is_named(name, open_page, empty, tmp_path):
    assert f"Headgate found no headgate.toml in {tmp_path}." in text(open_page(name))


def test_the_example_of_a_configuration_is_one(tmp_path):
    registry = headgate_toml.parse(
        EXAMPLE, path=str(tmp_path / "headgate.toml"), source="example", env={}
    )
    assert [p.name for p in registry.pipelines] == ["orders-by-city"]


@pytest.mark.parametrize("name", PAGES)
def test_a_wrong_configuration_is_one_sentence(name, open_page, tmp_path, monkeypatch):
    file = tmp_path / "headgate.toml"
    file.write_text('[[pipeline]]\nname = "x"\nengine = "flink"\n')
    monkeypatch.setenv("HEADGATE_CONFIG", str(file))
    at = open_page(name)
    assert not at.exception
    said = re.sub(r"\\(.)", r"\1", at.error[0].value)
    assert re.search(r"headgate\.toml:\d+: ", said) and "consumer-group" in said


@pytest.mark.parametrize("file", FILES, ids=lambda p: p.stem)
def test_a_page_opens_itself_before_anything_else(file):
    """A page's file can be reached without `console.py`: its first act is the gate's place."""
    (main,) = (n for n in ast.parse(file.read_text()).body if isinstance(n, ast.FunctionDef)
               and n.name == "main")  # fmt: skip
    assert "open_page(__file__)" in ast.unparse(main.body[0])


def test_every_file_is_a_page():
    assert {p.stem for p in FILES} == set(PAGES)


def test_topology_shows_what_the_checkpoint_pins(open_page, seeded):
    at = open_page("topology", pipeline="orders-by-city", version="1")
    assert "shuffle.partitions" in text(at)
    assert at.selectbox(key=TopologyKey.VERSION).value == "1"


def test_a_link_to_a_node_shows_its_details(open_page, seeded):
    at = open_page("topology", pipeline="orders-by-city", version="1", node="store-city")
    said = text(at)
    assert "HDFSBackedStateStoreProvider" in said
    assert re.search(r">city</span></td><td[^>]*><span class=\"hg-code\">string<", said)
    assert "Evidence for the state" in said


def test_a_link_to_a_node_that_is_gone_shows_the_version(open_page, seeded):
    at = open_page("topology", pipeline="orders-by-city", node="no-such-node")
    assert not at.exception
    assert "Version 2" in text(at)


def test_a_wrong_link_says_so(open_page, seeded):
    at = open_page("topology", pipeline="no-such-pipeline", version="99")
    assert not at.exception and "isn't in headgate" in text(at)
    assert at.selectbox(key=TopologyKey.PIPELINE).value is None
    at = open_page("topology", pipeline="orders-by-city", version="99")
    assert not at.exception
    assert at.warning[0].value.startswith("Version 99 not found. The page shows Version 2")


def test_compare_says_what_to_do_and_lists_findings(open_page, seeded):
    at = open_page("compare", pipeline="orders-by-city", before="1", after="2")
    assert "hg-verdict" in text(at)
    assert at.selectbox(key=CompareKey.BEFORE).value == "1"
    findings = [b for b in at.button if str(b.key).startswith("finding-")]
    assert findings
    findings[0].click().run()
    assert at.query_params["finding"] == "0"
    at.button(key="all_findings").click().run()
    assert "finding" not in at.query_params


def test_compare_asks_for_files_where_only_one_version_is_stored(open_page, seeded):
    at = open_page("compare", pipeline="city-alerts")
    assert not at.exception
    assert at.selectbox(key=CompareKey.AFTER).value == "given"


def test_the_landscape_works_without_kafka(open_page, seeded):
    at = open_page("landscape")
    assert "configured. Set bootstrap_servers under" in text(at)
    at.button(key="overview-city-alerts").click().run()
    assert at.query_params["node"].startswith("city-alerts/")
    at.segmented_control(key=LandscapeKey.LEVEL).set_value("pipelines").run()
    assert not at.exception


def test_the_wizard_refuses_with_the_reason(open_page, seeded):
    at = open_page("reprocess", pipeline="orders-by-city", scenario="from-scratch")
    assert "not found: check" in text(at)
    assert at.button(key=ReprocessKey.GO).disabled


def test_the_wizard_asks_what_the_scenario_needs(open_page, seeded):
    at = open_page("reprocess", pipeline="billing", scenario="from-point")
    assert "Required for the plan: Point" in text(at)
    assert at.button(key=ReprocessKey.GO).disabled
    at.selectbox(key="choice_from-point_point").set_value("to-datetime").run()
    assert "Required for the plan: Point" in text(at)
    at.text_input(key="option_from-point_to-datetime").set_value("yesterday").run()
    assert "expected a time such as" in text(at)
    # What is right is asked of Kafka, and there is none.
    at.text_input(key="option_from-point_to-datetime").set_value("2026-11-21T10:00:00Z").run()
    assert "has no Kafka cluster" in text(at)
    assert "expected a time" not in text(at)
    assert not at.exception
