"""Queries, versions, histories and progress out of event logs that Spark wrote."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from headgate.errors import EvidenceError, QueryChoiceError
from headgate.gateway.spark.event_logs import event_log_of
from headgate.model.evidence_kinds import EvidenceKind
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import Piece
from headgate.parse.evidence.version_file import fingerprint
from headgate.parse.spark.event_log.version import LoggedQuery, queries
from headgate.store import open_store
from headgate.usecases.context import Context, open_context
from headgate.usecases.evidence.capture_history import capture_history
from headgate.usecases.evidence.query_rows import queries_of
from headgate.usecases.evidence.read_history import read_history
from headgate.usecases.evidence.read_progress import read_progress
from headgate.usecases.evidence.read_version import gather, read_version
from support.event_logs import COMPACTED, PLAIN, ROOT, said
from support.spark_golden import ROOT as CASES

pytestmark = pytest.mark.slow

LOG = str(PLAIN)
MANY = str(ROOT.parent / "many_queries" / "eventlog_v2_local-1795250729015")
EXPLAINED = {"orders_2": "orders", "copies": "copies\n<b>🧵", "nameless": None}


def _ids(evidence: str | Path, query: str | None = None) -> set[str]:
    return {n.id for n in read_version([str(evidence)], query=query).topology.nodes}


# ----------------------------------------------------------------------- what a log holds


def test_every_query_is_listed_with_its_runs():
    orders, copies, nameless = queries_of(gather([LOG]))
    assert (orders.name, orders.runs, orders.state) == ("orders", 3, "failed")
    assert (copies.name, copies.runs, copies.state) == ("copies\n<b>🧵", 1, "stopped")
    assert (nameless.name, nameless.runs, nameless.state) == (None, 1, "stopped")
    assert [r.id for r in (orders, copies, nameless)] == [
        said(c)["id"] for c in ("orders_1", "copies", "nameless")
    ]
    assert copies.batches == 2 == len(said("copies")["progress"])


def test_a_log_without_an_end_is_of_a_running_query_only_while_it_is_fresh(tmp_path: Path):
    for minutes, state in ((0, "running"), (20, "unknown")):
        at = datetime.now(UTC) - timedelta(minutes=minutes)
        kind = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryStartedEvent"
        event = {"Event": kind, "id": "q", "runId": "r", "name": None, "timestamp": _iso(at)}
        (tmp_path / "log").write_text(json.dumps(event))
        assert [r.state for r in queries_of(gather([str(tmp_path / "log")]))] == [state]


def _iso(at: datetime) -> str:
    return at.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def test_several_queries_need_a_choice_and_are_all_listed():
    with pytest.raises(QueryChoiceError, match="has 3 queries: choose one with --query:") as error:
        read_version([LOG])
    # The query that was seen last stands first: 14:40:30, 14:40:28, 14:40:25 in the log.
    names = [line.split("  ")[0] for line in error.value.listed]
    assert names == ["(no name)", "copies <b>🧵", "orders"]
    told = "failed   11 batches  last seen 2026-11-21T14:40:25.868Z"
    assert error.value.listed[2].endswith(told)
    with pytest.raises(QueryChoiceError, match="the evidence has no query 'x', only:") as error:
        read_version([LOG], query="x")
    assert len(error.value.listed) == 3


def test_of_many_queries_those_seen_last_are_listed():
    with pytest.raises(QueryChoiceError, match="has 104 queries") as error:
        read_version([MANY])
    assert len(error.value.listed) == 21
    assert error.value.listed[-1] == "and 84 more"
    seen = [line.rpartition(" ")[2] for line in error.value.listed[:-1]]
    assert seen == sorted(seen, reverse=True)


def test_the_beginning_of_an_id_is_enough():
    (known,) = [r.id for r in queries_of(gather([MANY])) if r.id.startswith("f8aa")]
    for read in (read_version, read_history, read_progress):
        assert read([MANY], query="F8aa") == read([MANY], query=known)
    with pytest.raises(QueryChoiceError, match="no query 'f8a'"):
        read_version([MANY], query="f8a")


def test_the_beginning_of_several_ids_is_not(tmp_path: Path):
    (report, *_) = said("copies")["progress"]
    reports = [{**report, "id": i} for i in ("abcd-1", "abcd-2", "other")]
    file = tmp_path / "progress.json"
    file.write_text(json.dumps(reports))
    with pytest.raises(QueryChoiceError, match="2 queries have an id that starts") as error:
        read_version([str(file)], query="abcd")
    assert ["abcd-" in line for line in error.value.listed] == [True, True]
    assert read_version([str(file)], query="abcd-2").query_id == "abcd-2"


def test_the_beginning_of_an_id_in_plans_is_enough(tmp_path: Path):
    for number, source in enumerate(("a", "b")):
        known = f"{number}ade1234-0000-4000-8000-000000000000"
        (tmp_path / f"{source}.txt").write_text(
            "== Analyzed Logical Plan ==\n"
            f"WriteToMicroBatchDataSource Console, {known}, Append, 1\n"
            f"+- Relation [{source}#1] json\n"
        )
    one, other = (read_version([str(tmp_path)], query=q) for q in ("1ade", "0ade"))
    assert one == read_version([str(tmp_path)], query="1ade1234-0000-4000-8000-000000000000")
    assert one.topology != other.topology


def test_a_query_is_chosen_by_name_or_id():
    (row, *_) = queries_of(gather([LOG]))
    by_name, by_id = (read_version([LOG], query=q) for q in ("orders", row.id))
    assert by_name == by_id
    assert (by_name.name, by_name.query_id, by_name.engine_version) == ("orders", row.id, "4.2.0")
    assert [(e.kind, e.path) for e in by_name.evidence] == [("event-log", LOG)]


def test_a_version_has_sources_state_sink_and_what_is_pinned():
    version = read_version([LOG], query="orders")
    (source,) = version.sources or ()
    assert (source.format, source.path) == ("json", "file:/data/orders/in")
    assert source.offsets == {"logOffset": 4}
    (operator,) = version.stateful or ()
    assert operator.output_mode == "Update" == version.output_mode
    assert version.pinned["spark.sql.shuffle.partitions"] == "2"
    assert version.pinned["spark.sql.streaming.stateStore.encodingFormat"] == "unsaferow"
    assert "spark.app.id" not in version.settings
    assert "failed (USER_RAISED_EXCEPTION) before its first completed batch" in version.warnings[0]


# --------------------------------------------------------------------- the same node ids


@pytest.mark.parametrize("case", EXPLAINED)
def test_ids_are_those_of_the_explain_text_of_an_unstarted_query(case: str):
    """An unstarted query has no sink in its plan and every node else."""
    query = said(case)["id"]
    assert _ids(LOG, query) == _ids(ROOT / "explained" / case / "unstarted.txt")


@pytest.mark.parametrize("case", EXPLAINED)
def test_ids_are_those_of_the_plans_json_as_far_as_it_goes(case: str):
    logical = _ids(ROOT / "explained" / case / "logical.json")
    assert logical and logical <= _ids(LOG, said(case)["id"])


@pytest.mark.parametrize("case", ["copies", "nameless"])
def test_ids_are_those_of_the_explain_text_of_a_batch(case: str):
    assert _ids(LOG, said(case)["id"]) == _ids(ROOT / "explained" / case / "batch.txt")


@cache
def _many() -> tuple[LoggedQuery, ...]:
    return queries([p.value for p in gather([MANY]).pieces])


def _of_case(case: str) -> str:
    """The id of the query of a recorded case: its topics and folders are named after it."""
    words = (f"truth_{case}_main", f"/{case}/")
    return next(q.id for q in _many() if any(w in str(q.runs[0].run.newest) for w in words))


@pytest.mark.parametrize("case", ["kafka_union_swap"])
def test_ids_are_those_of_the_recorded_case(case: str):
    """The application of the big log ran the recorded cases."""
    first, *_ = read_history([MANY], query=_of_case(case))
    assert {n.id for n in first.topology.nodes} == _ids(CASES / case / "before" / "explain.txt")


def test_dozens_of_queries_are_told_apart():
    """Counted with grep: 218 starts under 104 ids, as many ends, 30 of them with an exception."""
    rows = queries_of(gather([MANY]))
    assert (len(rows), sum(r.runs for r in rows)) == (104, 218)
    assert {r.state for r in rows} == {"stopped", "failed"}
    runs = [r.run for q in _many() for r in q.runs]
    assert all(r.ended for r in runs)
    assert sum(r.exception is not None for r in runs) == 30


# ------------------------------------------------------------------------------- history


def test_a_restart_with_another_plan_is_another_version():
    first, second = read_history([LOG], query="orders")
    assert first.captured_at is not None and second.captured_at is not None
    assert first.captured_at < second.captured_at
    assert fingerprint(first) != fingerprint(second)
    assert len(first.topology.nodes) + 1 == len(second.topology.nodes)
    assert fingerprint(second) == fingerprint(read_version([LOG], query="orders"))


def test_a_roll_back_is_a_version_of_its_own():
    """csv, then json, then csv again: the recorded case starts the old version once more."""
    found = read_history([MANY], query=_of_case("file_format_csv_to_json"))
    assert [s.format for v in found for s in v.sources or ()] == ["csv", "json", "csv"]


def test_other_evidence_completes_the_newest_version(tmp_path: Path):
    shutil.copy(LOG, tmp_path / "log")
    (tmp_path / "conf.json").write_text('{"spark.sql.ansi.enabled": "false"}')
    first, second = read_history([str(tmp_path)], query="orders")
    assert "spark.sql.ansi.enabled" not in first.settings
    assert second.settings["spark.sql.ansi.enabled"] == "false"


def test_several_logs_of_one_query_follow_each_other(tmp_path: Path):
    """The second log is the first one's copy under later times, as a restart leaves it."""
    shutil.copy(LOG, tmp_path / "a")
    later = PLAIN.read_text().replace("local-1", "local-2")
    runs = {r for line in later.splitlines() for r in [json.loads(line).get("runId")] if r}
    for run in runs:
        later = later.replace(run, run[:-4] + "0000")
    later = later.replace("2026-11-21T", "2026-11-22T")
    folder = tmp_path / "eventlog_v2_local-2"
    folder.mkdir()
    (folder / "events_1_local-2").write_text(later)
    (folder / "appstatus_local-2").touch()
    assert [r.runs for r in queries_of(gather([str(tmp_path)]))] == [6, 2, 2]
    names = [len(v.topology.nodes) for v in read_history([str(tmp_path)], query="orders")]
    assert names == [8, 9, 8, 9]


def test_without_a_log_the_version_itself_is_the_history(tmp_path: Path):
    explain = str(ROOT / "explained" / "copies" / "unstarted.txt")
    assert read_history([explain]) == (read_version([explain]),)


# ------------------------------------------------------------------------------ progress


def test_progress_is_what_the_session_reported():
    batches = read_progress([LOG], query=said("copies")["id"])
    told = said("copies")["progress"]
    assert [(b.batch, b.at, b.duration_ms) for b in batches] == [
        (p["batchId"], p["timestamp"], p["batchDuration"]) for p in told
    ]
    assert [s.end for b in batches for s in b.sources] == [
        s["endOffset"] for p in told for s in p["sources"]
    ]
    assert [s.input_rows for b in batches for s in b.sources] == [p["numInputRows"] for p in told]


def test_progress_spans_the_restarts_of_a_query():
    batches = read_progress([LOG], query="orders")
    assert [b.batch for b in batches] == list(range(len(batches)))
    assert len({b.run_id for b in batches}) == 2
    newest = read_progress([LOG], query="orders", most=3)
    assert newest == batches[-3:]


def test_progress_json_is_progress_too(tmp_path: Path):
    file = tmp_path / "progress.json"
    file.write_text(json.dumps(said("copies")["progress"]))
    assert [b.batch for b in read_progress([str(file)])] == [0, 1]
    both = read_progress([str(file), LOG], query=said("copies")["id"])
    assert [b.batch for b in both] == [0, 1]
    assert [r.batches for r in queries_of(gather([str(file)]))] == [2]


def test_progress_of_several_queries_needs_a_choice():
    with pytest.raises(EvidenceError, match="hoose one with --query"):
        read_progress([LOG])
    with pytest.raises(EvidenceError, match="no query 'x'"):
        read_progress([LOG], query="x")


def test_what_reports_nothing_has_no_progress():
    assert read_progress([str(ROOT / "explained" / "copies" / "batch.txt")]) == ()


# ------------------------------------------------------------------------ into the store


@pytest.fixture
def context(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Context:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    Path("headgate.toml").write_text(
        '[[pipeline]]\nname = "shop"\nengine = "spark"\ncheckpoint = "ck"\n'
    )
    return open_context()


def test_every_distinct_version_is_stored_in_order_and_once(context: Context):
    stored = capture_history([LOG], pipeline="shop", context=context, query="orders")
    assert (stored.number, stored.is_new, stored.added) == (2, True, (1, 2))
    again = capture_history([LOG], pipeline="shop", context=context, query="orders")
    assert (again.number, again.is_new, again.added) == (2, False, ())
    store = open_store(context.store_url)
    rows = store.versions.list("shop")
    assert [(r.number, r.origin) for r in rows] == [(1, "observed"), (2, "observed")]
    assert [r.captured_at for r in rows] == [
        v.captured_at for v in read_history([LOG], query="orders")
    ]
    store.close()
    assert len(read_history(["shop"], context=context)) == 2


def test_a_log_that_grew_adds_what_is_new(context: Context, tmp_path: Path):
    lines = PLAIN.read_bytes().splitlines(keepends=True)
    starts = [i for i, x in enumerate(lines) if b"QueryStartedEvent" in x]
    log = tmp_path / "log"
    log.write_bytes(b"".join(lines[: starts[1]]))
    first = capture_history([str(log)], pipeline="shop", context=context)
    assert first.added == (1,)
    log.write_bytes(b"".join(lines))
    second = capture_history([str(log)], pipeline="shop", context=context, query="orders")
    assert second.added == (2,)


# ----------------------------------------------------------------------------- bad input


def test_a_rolling_log_without_an_event_is_said(tmp_path: Path):
    (tmp_path / "appstatus_x.inprogress").touch()
    (tmp_path / "events_1_x.zstd").touch()
    with pytest.raises(EvidenceError, match="is an event log, but Headgate can't read the events"):
        read_version([str(tmp_path)])


def test_a_packed_file_that_holds_no_whole_event_is_said(tmp_path: Path):
    file = tmp_path / "log"
    file.write_bytes((ROOT / "lz4" / "local-1.lz4").read_bytes()[:2000])
    with pytest.raises(EvidenceError, match="is lz4 data"):
        read_version([str(file)])


def test_an_application_without_streams_is_said(tmp_path: Path):
    lines = PLAIN.read_text().splitlines(keepends=True)
    file = tmp_path / "log"
    file.write_text("".join(x for x in lines if "runId" not in x))
    assert queries_of(gather([str(file)])) == ()
    with pytest.raises(EvidenceError, match="log of an application without streaming queries"):
        read_version([str(file)])
    assert read_progress([str(file)]) == ()


def test_a_compacted_log_is_read_with_what_was_left_of_it():
    assert [r.runs for r in queries_of(gather([str(COMPACTED)]))] == [3, 1, 1]


LINES = PLAIN.read_bytes().splitlines(keepends=True)
QUERIES = frozenset(r.id for r in queries_of(gather([LOG])))


@settings(max_examples=25, deadline=None)
@given(st.sets(st.integers(0, len(LINES) - 1), max_size=len(LINES)), st.binary(max_size=50))
def test_dropped_lines_never_raise_anything_but_evidence_errors(dropped: set[int], junk: bytes):
    """A query of which one event is left is still known, and its version is still made."""
    kept = [x for i, x in enumerate(LINES) if i not in dropped]
    files = event_log_of(b"".join(kept) + junk, "log")
    if files is None:
        assert not kept
        return
    log = files.read()
    found = {q.id for q in queries([log])}
    assert found == {q for q in QUERIES if any(_tells(x, q) for x in kept)}
    for query in found:
        pieces = [Piece(EvidenceKind.EVENT_LOG, "log", log, log.warnings)]
        assert assemble(Gathered(pieces=pieces), query=query).query_id == query


def _tells(line: bytes, query: str) -> bool:
    """Whether a line is of a kind that names its query: a start, a report, a batch, an end."""
    kinds = (b"StreamingQueryListener$Query", b"SQLExecutionStart")
    if query.encode() not in line or not any(k in line[:120] for k in kinds):
        return False
    event = json.loads(line)
    return event.get("executionId") == event.get("rootExecutionId")


def test_a_byte_order_mark_is_no_part_of_the_first_event(tmp_path: Path):
    file = tmp_path / "log"
    file.write_bytes(b"\xef\xbb\xbf" + PLAIN.read_bytes())
    assert read_version([str(file)], query="orders").engine_version == "4.2.0"
