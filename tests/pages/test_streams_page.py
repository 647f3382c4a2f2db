"""The Topology page with a Kafka Streams application, named by people who mean no good, too."""

from __future__ import annotations

from pathlib import Path

import pytest

from headgate.ui.shared.keys import TopologyKey
from headgate.usecases.context import open_context
from headgate.usecases.evidence.refresh_versions import refresh_versions

TESTS = Path(__file__).parents[1]
REGISTRY = """
[[pipeline]]
name = "app"
engine = "kafka-streams"
group = "{group}"
evidence = ["{evidence}"]
"""


def text(at):
    found = (str(getattr(p, "value", None) or getattr(p, "body", "")) for p in at.html)
    return " ".join(s for s in found if not s.startswith("<style>"))


@pytest.fixture
def shown(tmp_path, monkeypatch, open_page):
    def show(evidence, group, **params):
        file = tmp_path / "headgate.toml"
        file.write_text(REGISTRY.format(group=group, evidence=TESTS / evidence))
        monkeypatch.setenv("HEADGATE_CONFIG", str(file))
        (done,) = refresh_versions(open_context(str(file)))
        assert done.number == 1
        return open_page("topology", pipeline="app", **params)

    return show


def test_the_page_says_id_state_and_what_is_open(shown):
    folder = "cases/kafka_streams/U36_fk_join_unnamed_shift/before"
    at = shown(folder, "ks_u36x13i2_app")
    assert not at.exception
    said = text(at)
    assert ">ks_u36x13i2_app</span>" in said
    assert "3 stores, 1 with a generated name" in said
    assert "code shows these settings" in said


def test_names_are_shown_and_not_run(shown):
    at = shown("golden/streams/4.3.1/processor_api.txt", "app")
    assert not at.exception
    assert "<script>alert" not in text(at)


def test_a_search_without_a_hit_says_so(shown):
    folder = "cases/kafka_streams/U36_fk_join_unnamed_shift/before"
    at = shown(folder, "ks_u36x13i2_app")
    at.text_input(key=TopologyKey.SEARCH).input("<b>zz").run()
    assert not at.exception and "No node matches &lt;b&gt;zz" in text(at)
    at.text_input(key=TopologyKey.SEARCH).input("join").run()
    assert not at.exception and "No node matches" not in text(at)


def test_an_application_has_no_batches(shown):
    folder = "cases/kafka_streams/U36_fk_join_unnamed_shift/before"
    said = text(shown(folder, "ks_u36x13i2_app", view="progress"))
    assert "Kafka Streams has no batches" in said and "query progress" not in said
