"""Evidence that is put into a page: recognised at once, asked for a query, bad input a sentence."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest
from test_pages import text

from headgate.errors import EvidenceError
from headgate.ui.shared.error_message import sentence
from headgate.ui.shared.keys import CompareKey, EvidenceKey, TopologyKey
from headgate.ui.shared.server_paths import allowed, registered
from headgate.usecases.context import open_context

pytestmark = pytest.mark.slow

EXPLAIN = """\
== Parsed Logical Plan ==
~WriteToMicroBatchDataSourceV1 ForeachBatchSink, 7b3ace30, [checkpointLocation=/ck], Update, 0
+- ~Aggregate [k#1], [k#1, count(1) AS c#2L]
   +- ~Project [k#3 AS k#1]
      +- Relation [k#3,v#4] json

== Physical Plan ==
*(4) HashAggregate(keys=[k#3], functions=[count(1)], output=[k#3, c#2L])
+- StateStoreSave [k#3], state info [ checkpoint = file:/ck/state, opId = 0], Update, 0, 0, 2
   +- *(3) HashAggregate(keys=[k#3], functions=[merge_count(1)], output=[k#3, count#5L])
      +- StateStoreRestore [k#3], state info [ checkpoint = file:/ck/state, opId = 0], 2
         +- Exchange hashpartitioning(k#3, 2), REQUIRED_BY_STATEFUL_OPERATOR, [plan_id=1]
            +- *(1) HashAggregate(keys=[k#3], functions=[partial_count(1)], output=[k#3, count#5L])
               +- FileScan json [k#3] Batched: false, Format: JSON, Location: InMemoryFileIndex[]
"""
HOSTILE = "<script>alert(1)</script> **b** ![x](http://evil/x.png) :red[r] `code` 😀"


def pasted(at, form, words):
    """Put text into a form's area: the component's state, as the browser sends it."""
    at.session_state[EvidenceKey.TEXT.of(form)] = {"text": words, "length": len(words)}
    return at.run()


def test_pasted_text_is_recognised_and_drawn(open_page, seeded):
    at = pasted(open_page("topology", pipeline="billing"), TopologyKey.UPLOAD, EXPLAIN)
    assert "extended explain, 2 query plans of Spark" in text(at)
    at.button(key=TopologyKey.UPLOAD_SHOW).click().run()
    assert not at.exception
    assert at.selectbox(key=TopologyKey.VERSION).value == "given"
    said = text(at)
    assert any("Missing in this evidence" in str(e.label) for e in at.expander)
    assert "explain" in said and "pasted text" in said


def test_pasted_text_can_be_stored_and_keeps_its_own_name(open_page, seeded):
    at = pasted(open_page("topology", pipeline="billing"), TopologyKey.UPLOAD, EXPLAIN)
    at.button(key=TopologyKey.UPLOAD_GO).click().run()
    assert "Stored as version 1 of billing" in at.success[0].value
    at.button(key="show_stored_form").click().run()
    assert at.selectbox(key=TopologyKey.VERSION).value == "1"
    assert dict(at.query_params) == {"pipeline": "billing"}
    at = open_page("topology", pipeline="billing", version="1")
    assert "pasted text" in text(at)
    assert "headgate-" not in text(at)


def test_text_that_is_nothing_is_one_sentence_that_lists_what_was_tried(open_page, seeded):
    at = pasted(open_page("topology", pipeline="billing"), TopologyKey.UPLOAD, HOSTILE)
    assert not at.exception
    (error,) = at.error
    said = error.value.replace("\\", "")
    assert said.startswith("pasted text isn't evidence. Formats tried: explain text")
    assert at.button(key=TopologyKey.UPLOAD_SHOW).disabled


def test_evidence_works_without_any_pipeline(open_page, empty):
    at = pasted(open_page("topology"), TopologyKey.UPLOAD, EXPLAIN)
    at.button(key=TopologyKey.UPLOAD_SHOW).click().run()
    assert not at.exception
    assert at.selectbox(key=TopologyKey.VERSION).value == "given"


def test_compare_takes_pasted_text_for_a_side(open_page, seeded):
    at = open_page("compare", pipeline="orders-by-city", before="1", after="given")
    at = pasted(at, CompareKey.AFTER_GIVEN, EXPLAIN)
    assert not at.exception
    assert "hg-verdict" in text(at)
    assert "extended explain" in text(at)
    at.button(key=f"{CompareKey.AFTER_GIVEN}_other").click().run()
    assert "hg-verdict" not in text(at)


def test_a_page_reads_what_the_registry_names_and_nothing_else(seeded):
    context = open_context(str(seeded))
    checkpoint = str(seeded.parent / "ck" / "orders-by-city")
    assert registered(context, "orders-by-city")[0] == checkpoint
    assert allowed(context, f" {checkpoint}/offsets ") == f"{checkpoint}/offsets"


@pytest.mark.parametrize(
    ("place", "is_read"),
    [
        ("http://history:18080/history/app-1", True),
        ("http://history:18080", True),
        ("http://HISTORY:18080", True),
        ("http://history:8080", False),
        ("https://history:18080", True),
        ("http://history:18080@evil.example/", False),
        ("http://evil.example#history:18080", False),
        ("http://driver:4040", True),
        ("http://driver:4041", True),
        ("http://only:4040", True),
        ("http://only:4041", False),
        ("http://only", False),
        ("http://127.0.0.1:8501", False),
        ("http://localhost:9200", False),
        ("http://169.254.169.254/latest/meta-data", False),
        ("http://[::1]:4040", False),
        ("http://2130706433/", False),
        ("http://driver.evil.example:4040", False),
        ("http://x:99999", False),
    ],
)
def test_a_page_reaches_only_hosts_that_somebody_named(tmp_path, place, is_read):
    (tmp_path / "headgate.toml").write_text(
        '[console]\nallowed_hosts = ["driver", "only:4040"]\n'
        '[[pipeline]]\nname = "p"\nengine = "spark"\n'
        'evidence = ["http://history:18080/history/app-1"]\n'
    )
    context = open_context(str(tmp_path / "headgate.toml"))
    if is_read:
        assert allowed(context, place) == place
        return
    with pytest.raises(EvidenceError) as caught:
        allowed(context, place)
    assert "\n" not in str(caught.value)


def test_a_listed_name_that_leads_to_this_machine_is_refused(tmp_path, monkeypatch):
    """Whoever serves the name's zone may let it lead anywhere; only the resolver is replaced."""
    answers = {"inner.example": "127.0.0.1", "meta.example": "169.254.169.254"}

    def resolve(host, *_args, **_more):
        return [(2, 1, 6, "", (answers.get(host, "192.0.2.7"), 0))]

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    (tmp_path / "headgate.toml").write_text(
        "[console]\nallowed_hosts = "
        '["inner.example", "meta.example", "outer.example", "localhost", "127.0.0.1"]\n'
    )
    context = open_context(str(tmp_path / "headgate.toml"))
    for host in ("inner.example", "meta.example"):
        with pytest.raises(EvidenceError, match="resolves to a loopback or link-local address"):
            allowed(context, f"http://{host}:4040")
    for host in ("outer.example", "localhost", "127.0.0.1"):
        assert allowed(context, f"http://{host}:4040") == f"http://{host}:4040"


@pytest.mark.parametrize(
    "place",
    ["/etc/passwd", "headgate.toml", "ck/orders-by-city/../../headgate.toml", "file:///etc/passwd",
     "s3://bucket/ck", "http://", "a\0b"],
)  # fmt: skip
def test_other_places_are_refused_in_one_sentence(seeded, place):
    with pytest.raises(EvidenceError) as caught:
        allowed(open_context(str(seeded)), place)
    assert "\n" not in str(caught.value)


def test_a_link_out_of_a_registered_folder_is_refused(seeded):
    checkpoint = seeded.parent / "ck" / "orders-by-city"
    checkpoint.mkdir(parents=True)
    (checkpoint / "out").symlink_to(Path("/etc"))
    with pytest.raises(EvidenceError):
        allowed(open_context(str(seeded)), f"{checkpoint}/out/passwd")


def test_a_sentence_shows_names_as_they_are():
    assert sentence("no `a*b` in *x* ![y](z)") == r"no `a*b` in \*x\* \!\[y\]\(z\)"
    assert "`" not in sentence("one ` alone").replace("\\`", "")
