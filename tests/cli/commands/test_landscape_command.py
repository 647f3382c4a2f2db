"""`headgate landscape` over a seeded store without Kafka."""

from __future__ import annotations

import io
import json
from xml.etree import ElementTree

import networkx as nx
import pytest
from click.testing import CliRunner
from PIL import Image

from headgate.cli.commands.landscape import command
from headgate.cli.shared.group import Settings
from headgate.errors import SelectorError
from support.console_seed import seed

pytestmark = pytest.mark.slow


@pytest.fixture
def run(tmp_path, monkeypatch):
    file = seed(tmp_path)
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0):
        result = CliRunner().invoke(command, arguments, obj=Settings(config=str(file)))
        assert result.exit_code == code, (result.output, result.exception)
        return result

    return run


def test_text_names_pipelines_consumers_and_loose_ends_and_says_that_kafka_was_not_read(run):
    result = run()
    assert "Kafka cluster state not read" in result.stdout
    assert "orders-by-city" in result.stdout
    assert "sales" in result.stdout
    assert "position unknown" in result.stdout
    assert "Topics without consumers (2)" in result.stdout
    assert "warning: Headgate didn't read the Kafka cluster" in result.stderr
    assert "warning" not in result.stdout


def test_json_holds_the_graph_and_what_is_known(run):
    found = json.loads(run("--format", "json").stdout)
    assert next(iter(found)) == "schema"
    assert found["schema"] == 1
    assert found["at"] is None
    ids = {n["id"] for n in found["nodes"]}
    assert {"topic:orders", "orders-by-city/aggregate-city"} <= ids
    assert {e[k] for e in found["edges"] for k in ("from", "to")} <= ids
    assert [p["name"] for p in found["pipelines"]] == ["orders-by-city", "city-alerts", "billing"]
    assert found["loose_ends"]["unread"] == ["city-alerts", "city-revenue-v2"]


def test_selectors_are_a_union_and_exclude_takes_away(run):
    found = json.loads(run("topic:orders", "owner:growth", "--format", "json").stdout)
    assert {n["pipeline"] for n in found["nodes"]} == {None, "city-alerts"}
    assert [p["name"] for p in found["pipelines"]] == ["city-alerts"]
    less = json.loads(
        run("+city-revenue-v2", "--exclude", "kind:state_store", "--format", "json").stdout
    )
    kinds = {n["kind"] for n in less["nodes"]}
    assert "state_store" not in kinds
    assert "sink" in kinds


def test_a_wrong_selector_is_one_sentence(run):
    result = run("ordres", code=1)
    assert isinstance(result.exception, SelectorError)
    assert "position 1" in str(result.exception)
    assert result.exception.exit_code == 2


def test_a_way_there_and_a_way_back(run):
    way = run("--path", "orders", "city-revenue-v2").stdout.splitlines()
    assert [line.split()[-1] for line in way[:3]] == [
        "orders", "orders-by-city", "city-revenue-v2",
    ]  # fmt: skip
    assert "This is the only path." in way
    back = run("--path", "city-revenue-v2", "orders").stdout
    assert "No data flows from city-revenue-v2 to orders." in back
    assert "Data flows from orders to city-revenue-v2:" in back
    none = run("--path", "orders", "payments").stdout
    assert "No data flows from payments to orders, either." in none
    found = json.loads(run("--path", "orders", "city-revenue-v2", "--format", "json").stdout)
    assert found["exists"]
    assert found["stops"] == ["topic:orders", "pipeline:orders-by-city", "topic:city-revenue-v2"]


def test_downstream_names_whom_to_tell(run):
    said = run("--downstream", "orders").stdout
    assert "Notify sales" in said
    assert "orders-by-city/store-city" in said
    found = json.loads(run("--downstream", "city-revenue", "--format", "json").stdout)
    assert found["owners"] == {"growth": ["city-alerts"], "finance": ["billing"]}
    nothing = run("--downstream", "city-revenue-v2").stdout
    assert "Nothing is downstream of city-revenue-v2." in nothing


def test_questions_exclude_each_other(run):
    assert "give only one of" in run("orders", "--downstream", "orders", code=2).output
    two = run("--path", "a", "b", "--downstream", "orders", code=2)
    assert "give only one of" in two.output


@pytest.mark.parametrize("level", ["pipelines", "internals"])
def test_every_export_is_of_its_format(run, tmp_path, level):
    def made(form):
        file = tmp_path / f"out.{form}"
        result = run("--format", form, "--level", level, "-o", str(file))
        assert result.stdout == ""
        return file.read_bytes()

    assert made("mermaid").startswith(b"flowchart LR\n")
    assert made("dot").startswith(b"digraph landscape {")
    graph = nx.read_graphml(io.BytesIO(made("graphml")))
    assert ("pipeline:billing" in graph) == (level == "pipelines")
    assert ElementTree.fromstring(made("svg")).tag.endswith("svg")
    assert Image.open(io.BytesIO(made("png"))).format == "PNG"
    events = [json.loads(line) for line in made("openlineage").splitlines()]
    assert [e["job"]["name"] for e in events] == [
        "orders-by-city", "orders-by-city", "city-alerts",
    ]  # fmt: skip


def test_an_export_of_a_way_draws_only_what_lies_on_it(run):
    drawn = run("--downstream", "city-revenue", "--format", "dot").stdout
    assert '"pipeline:city-alerts"' in drawn
    assert '"pipeline:orders-by-city"' not in drawn


def test_a_file_that_cannot_be_written_is_one_sentence(run, tmp_path):
    result = run("--format", "svg", "-o", str(tmp_path / "no" / "such" / "folder.svg"), code=2)
    assert "folder.svg can't be written: No such file or directory" in result.output


def test_kafka_that_does_not_answer_is_said_and_the_rest_shown(tmp_path, monkeypatch):
    file = seed(tmp_path, bootstrap="127.0.0.1:1")
    result = CliRunner().invoke(command, [], obj=Settings(config=str(file)))
    assert result.exit_code == 0
    assert "orders-by-city" in result.stdout
    assert "127.0.0.1:1" in result.stderr
