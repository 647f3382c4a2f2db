"""What was in each batch of a checkpoint, also while its query goes on."""

from __future__ import annotations

import json
import threading
from itertools import count

import pytest
from click.testing import CliRunner

from headgate.cli.commands.batches import command
from headgate.errors import EvidenceError, NotFoundError, ScenarioError
from headgate.gateway.checkpoint.batches import commits, read_batches
from headgate.gateway.checkpoint.rewind_facts import read_rewind
from headgate.model.restore_points import LoggedBatch
from headgate.ui.reprocess.batch_choice import frame
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.list_batches import batch_rows, list_batches
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow

HEAD = {"batchWatermarkMs": 0, "batchTimestampMs": 1_795_250_729_015, "conf": {}}


def write_batch(folder, number, **topics):
    for log in ("offsets", "commits"):
        (folder / log).mkdir(parents=True, exist_ok=True)
    head = HEAD | {"batchTimestampMs": HEAD["batchTimestampMs"] + number}
    ends = {name: {str(p): n for p, n in parts.items()} for name, parts in topics.items()}
    write_whole(folder / "offsets" / str(number), f"v1\n{json.dumps(head)}\n{json.dumps(ends)}")
    write_whole(folder / "commits" / str(number), 'v1\n{"nextBatchWatermarkMs":5000}')


def write_whole(file, text):
    partial = file.with_name(f".{file.name}.tmp")
    partial.write_text(text)
    partial.rename(file)


@pytest.fixture
def query(tmp_path, monkeypatch):
    """A registered query whose checkpoint holds batches 3 to 5."""
    folder = tmp_path / "ck"
    write_batch(folder, 3, orders={0: 10, 1: 20})
    write_batch(folder, 4, orders={0: 17, 1: 20})
    write_batch(folder, 5, orders={0: 17, 1: 29, 2: 4})
    (folder / "metadata").write_text('{"id":"0d4f3c1e-54a5-4d0e-9c55-2d1f9b1f7a10"}')
    file = tmp_path / "headgate.toml"
    file.write_text(
        '[[pipeline]]\nname = "q"\nengine = "spark"\ncheckpoint = "ck"\n'
        '[[pipeline]]\nname = "g"\nengine = "consumer-group"\ngroup = "g"\n'
    )
    monkeypatch.setenv("HEADGATE_CONFIG", str(file))
    return folder


def test_a_batch_holds_what_lies_between_two_ends(query):
    rows = list_batches(open_context(), "q")
    assert [(row.number, row.total) for row in rows] == [(5, 13), (4, 7), (3, None)]
    assert rows[0].planned_at == "2026-11-21T08:45:29.020Z"
    assert rows[0].watermark == "1970-01-01T00:00:05.000Z"


def test_batch_0_began_at_the_first_offsets_of_its_sources(query):
    write_batch(query, 0, orders={0: 5, 1: 20})
    rows = list_batches(open_context(), "q")
    assert [(rows[-1].number, rows[-1].total)] == [(0, None)]
    (query / "sources" / "0").mkdir(parents=True)
    (query / "sources" / "0" / "0").write_bytes(b'\0v1\n{"orders":{"0":2,"1":20}}')
    rows = list_batches(open_context(), "q")
    assert [(row.number, row.total) for row in rows[-2:]] == [(3, None), (0, 3)]


def test_what_no_log_tells_is_not_zero():
    gap = [LoggedBatch(number=n, offsets={"a": {0: n}}) for n in (1, 2, 4)]
    assert [row.records for row in batch_rows(gap)] == [None, {"a": 1}, None]
    files = [LoggedBatch(number=n) for n in (0, 1)]
    assert [row.total for row in batch_rows(files)] == [None, None]
    new = [LoggedBatch(number=0, offsets={"a": {0: 9}}),
           LoggedBatch(number=1, offsets={"a": {0: 9}, "b": {0: 500}})]  # fmt: skip
    assert batch_rows(new)[0].records is None


def test_the_table_has_a_column_for_each_topic():
    ends = [{"a": {0: 1}, "b": {0: 0}}, {"a": {0: 1}, "b": {0: 2_000}}]
    shown = frame(batch_rows([LoggedBatch(number=n, offsets=e) for n, e in enumerate(ends)]))
    assert list(shown.columns[-2:]) == ["Records from a", "Records from b"]
    assert list(shown["Records from b"]) == ["2\u202f000", ""]


def test_the_command_line_lists_the_same(query):
    run = CliRunner().invoke(command, ["q", "--newest", "2"], catch_exceptions=False)
    first, second = run.output.splitlines()
    assert "5  planned 2026-11-21 08:45:29  13 records (orders 13)" in first
    assert "7 records" in second
    run = CliRunner().invoke(command, ["q", "--format", "json"], catch_exceptions=False)
    assert [row["total"] for row in json.loads(run.output)["batches"]] == [13, 7, None]


def test_what_has_no_batches_is_refused_with_the_reason(query):
    context = open_context()
    with pytest.raises(NotFoundError, match=r"no pipeline qq .*: did you mean q\?"):
        list_batches(context, "qq")
    with pytest.raises(ScenarioError, match="g has no Spark checkpoint"):
        list_batches(context, "g")
    (query / "metadata").unlink()
    for log in ("offsets", "commits"):
        for file in (query / log).iterdir():
            file.unlink()
        (query / log).rmdir()
    with pytest.raises(ScenarioError, match="no checkpoint found at"):
        list_batches(context, "q")


def test_without_a_file_nobody_is_told_that_a_name_is_wrong(tmp_path, monkeypatch):
    monkeypatch.delenv("HEADGATE_CONFIG", raising=False)
    monkeypatch.chdir(tmp_path)
    for ask in (list_batches, lambda c, name: plan_scenario(c, "from-scratch", name)):
        with pytest.raises(
            NotFoundError, match=r"headgate\.toml not found in this folder.*--config"
        ):
            ask(open_context(), "q")


def test_a_query_that_goes_on_takes_files_away_while_it_is_looked_at(query):
    """Writes are temporary files that are renamed, and the oldest batches go, as Spark does it."""
    state = query / "state" / "0" / "0"
    state.mkdir(parents=True)
    over = threading.Event()

    def go_on():
        for number in count(6):
            write_batch(query, number, orders={0: number})
            write_whole(state / f"{number}.delta", "x" * 4096)
            (state / f"{number}.delta").unlink()
            for log in ("commits", "offsets") if number > 8 else ():
                (query / log / str(number - 3)).unlink()
            if over.is_set():
                return

    going = threading.Thread(target=go_on)
    going.start()
    try:
        for _ in range(150):
            read_batches(query)
            read_rewind(query, 4)
            list(commits(query))
    finally:
        over.set()
        going.join(PATIENCE)


def test_a_file_that_is_there_and_can_not_be_read_is_named(query):
    (query / "commits" / "4").write_text("v9")
    with pytest.raises(EvidenceError, match="commits/4"):
        read_batches(query)
