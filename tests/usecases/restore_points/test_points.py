"""Restore points of a checkpoint that is written and cleaned meanwhile; limits, expiry, crashes."""

import signal
import subprocess
import sys
import time
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import msgspec
import pytest
import sqlalchemy as sa

from headgate.cli.main import headgate
from headgate.errors import EvidenceError, NotFoundError, RefusedError, RegistryError, StepError
from headgate.gateway.checkpoint import points
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.gateway.checkpoint.point_copy import FilesGoneError
from headgate.gateway.checkpoint.points import damage, points_folder
from headgate.gateway.checkpoint.rewind_facts import read_rewind
from headgate.model.registered_pipelines import PointSchedule
from headgate.model.restore_points import StoreRows
from headgate.store import open_store
from headgate.store.rows import NewRun
from headgate.store.tables import RESTORE_POINT_TRIES, RESTORE_POINTS
from headgate.usecases.context import open_context
from headgate.usecases.restore_points.due_points import check_due_points, make_due_points
from headgate.usecases.restore_points.list_points import list_points
from headgate.usecases.restore_points.make_point import make_point
from headgate.usecases.restore_points.remove_points import remove_point
from support.checkpoint_writer import Writer
from support.waiting import PATIENCE, until

pytestmark = pytest.mark.slow

TOML = """\
[restore_points]
every = "1h"
keep = "2 days"
max_size = "{most}"
[[pipeline]]
name = "q"
engine = "spark"
checkpoint = "ck"
"""
TESTS = Path(__file__).parents[2]


def context_of(folder, most="1 GB", more=""):
    (folder / "headgate.toml").write_text(TOML.format(most=most) + more)
    return open_context(str(folder / "headgate.toml"))


@pytest.fixture
def context(tmp_path):
    return context_of(tmp_path)


@pytest.fixture
def writer(tmp_path):
    made = Writer(tmp_path / "ck")
    for _ in range(8):
        made.add()
    return made


@contextmanager
def program(*args):
    process = subprocess.Popen([sys.executable, *map(str, args)])
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def contents(location):
    """Each partition's newest state in a point, as the writer wrote it."""
    found = {}
    for store in sorted(Path(location).glob("state/0/[0-9]*")):
        names = sorted(store.iterdir(), key=lambda p: int(p.stem))
        found[int(store.name)] = names[-1].read_bytes().rstrip(b".")
    return found


def assert_whole(point):
    assert read_rewind(Path(point.location), point.batch).missing == ()
    assert damage(point, {}) is None
    at = point.batch + 1
    assert contents(point.location) == {n: f"{n}/{at}".encode() for n in range(4)}
    assert point.offsets == {"t": {0: 10 * at}}


def test_points_of_a_checkpoint_that_changes_meanwhile_are_whole(tmp_path, context):
    """Each batch deletes the files that the one four before it needed.

    On a busy machine a copy may never be fast enough; then the next try makes the point.
    """
    with program(TESTS / "support" / "checkpoint_writer.py", tmp_path / "ck", 0.01):
        points, deadline = {}, time.monotonic() + PATIENCE
        while len(points) < 30 and time.monotonic() < deadline:
            if (tmp_path / "ck/commits/5").exists() or points:
                with suppress(FilesGoneError):
                    point = make_point(context, "q")
                    points[point.id] = point
    assert len(points) == 30
    batches = [p.batch for p in points.values()]
    assert batches == sorted(set(batches))
    assert batches[-1] - batches[0] > 10
    for point in points.values():
        assert_whole(point)


def test_a_point_has_only_what_its_batch_needs_and_links_the_state(writer, context):
    point = make_point(context, "q")
    folder = Path(point.location)
    names = sorted(p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
    # Version 8 is loaded from snapshot 6 and two deltas.
    files = ("6.snapshot", "7.delta", "8.delta")
    state = [f"state/0/{n}/{name}" for n in range(4) for name in files]
    logs = [f"{log}/{batch}" for log in ("commits", "offsets") for batch in (5, 6, 7)]
    assert names == sorted([*logs, *state, "metadata", "state/0/_metadata/metadata"])
    assert all((folder / name).stat().st_nlink == 2 for name in state)
    assert all((folder / name).stat().st_nlink == 1 for name in logs)


def test_nothing_new_is_no_new_point(writer, context):
    first = make_point(context, "q")
    assert make_point(context, "q") == first
    writer.add()
    assert make_point(context, "q").batch == first.batch + 1


def test_a_batch_that_replaced_another_one_is_a_new_point(writer, context):
    """After a rewind the numbers of its batches come again: the old point is of none of them."""
    first = make_point(context, "q")
    writer.replace_newest()
    second = make_point(context, "q")
    assert (second.batch, second.query_id) == (first.batch, first.query_id)
    assert second.id != first.id
    assert second.planned_ms == first.planned_ms + 60_000
    assert make_point(context, "q") == second
    assert [row.id for row in list_points(context, "q").points] == [second.id, first.id]


def test_a_point_outlives_the_checkpoint_and_its_disk_use_shows(writer, context):
    point = make_point(context, "q")
    before = list_points(context, "q")
    assert before.held_bytes < before.bytes
    was = tree_hash(Path(point.location))
    for _ in range(20):
        writer.add()
    after = list_points(context, "q")
    assert after.bytes == before.bytes
    assert after.held_bytes == after.bytes
    assert tree_hash(Path(point.location)) == was
    assert_whole(point)


@pytest.mark.parametrize(
    "attempt", [0, *(pytest.param(n, marks=pytest.mark.long) for n in range(1, 6))]
)
def test_a_killed_process_leaves_nothing_that_counts(attempt, tmp_path, context):
    Writer(tmp_path / "ck", partitions=400).add()
    program_text = (
        "import sys; from headgate.usecases.context import open_context;"
        "from headgate.usecases.restore_points.make_point import make_point;"
        "context = open_context(sys.argv[1]); print('go', flush=True); make_point(context, 'q')"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program_text, str(tmp_path / "headgate.toml")],
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.readline()
    folder = Path(points_folder(str(tmp_path / "ck")))
    until(lambda: any(folder.glob(".part-*")) or process.poll() is not None, every=0)
    # At another moment each time.
    time.sleep(0.05 * attempt)
    process.send_signal(signal.SIGKILL)
    process.wait()
    for row in list_points(context, "q").points:
        assert Path(f"{row.location}.json").exists()
    point = make_point(context, "q")
    assert damage(point, {}) is None
    assert read_rewind(Path(point.location), point.batch).missing == ()
    ids = {row.id for row in list_points(context, "q").points}
    left = {p.name.removesuffix(".json") for p in folder.iterdir()}
    assert left == ids
    assert len(ids) == 1


def test_the_oldest_points_go_when_the_limit_is_reached(tmp_path):
    writer = Writer(tmp_path / "ck", size=10_000)
    context = context_of(tmp_path, most="400 kB")
    made = []
    for _ in range(8):
        for _ in range(4):
            writer.add()
        made.append(make_point(context, "q"))
        found = list_points(context, "q")
        assert found.held_bytes <= found.bytes <= 400_000
    kept = [row.id for row in found.points]
    assert kept == [p.id for p in reversed(made)][: len(kept)]
    assert 1 < len(kept) < 8
    assert not any(Path(p.location).exists() for p in made if p.id not in kept)


def test_no_point_goes_before_the_new_one_is_recorded(tmp_path, monkeypatch):
    writer = Writer(tmp_path / "ck", size=10_000)
    context = context_of(tmp_path, most="200 kB")
    writer.add()
    writer.add()
    first = make_point(context, "q")
    writer.size = 40_000
    writer.add()

    def ended(point, sizes, settings):
        raise SystemExit

    # As a kill: nothing below runs, and nothing cleans up.
    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr("headgate.gateway.checkpoint.points.record", ended)
        make_point(context, "q")
    assert [row.id for row in list_points(context, "q").points] == [first.id]
    assert damage(first, {}) is None
    second = make_point(context, "q")
    assert [row.id for row in list_points(context, "q").points] == [second.id]
    assert not Path(first.location).exists()


def test_a_point_that_does_not_fit_beside_one_in_use_removes_none(tmp_path):
    writer = Writer(tmp_path / "ck", size=10_000)
    context = context_of(tmp_path, most="200 kB")
    made = []
    for _ in range(2):
        writer.add()
        made.append(make_point(context, "q"))
    run = used_by_run(context, made[0])
    writer.size = 40_000
    writer.add()
    with pytest.raises(StepError, match=f"Wait for the end of run {run}, or raise `max_size`"):
        make_point(context, "q")
    assert [row.id for row in list_points(context, "q").points] == [made[1].id, made[0].id]
    assert [damage(p, {}) for p in made] == [None, None]
    left = {p.name.removesuffix(".json") for p in Path(points_folder(made[0].source)).iterdir()}
    assert left == {p.id for p in made}


def used_by_run(context, point):
    new = NewRun(
        scenario="rewind",
        pipeline="q",
        plan_hash="h",
        plan="{}",
        resources=(f"point:{point.id}",),
    )
    with closing(open_store(context.store_url)) as store:
        return store.runs.enqueue(new, by="ann", action="apply")


def test_a_point_that_alone_is_too_large_fails_and_is_reported(tmp_path):
    writer = Writer(tmp_path / "ck", size=10_000)
    context = context_of(tmp_path, most="30 kB")
    writer.add()
    with pytest.raises(StepError, match="Raise `max_size`"):
        make_point(context, "q")
    found = list_points(context, "q")
    assert found.points == ()
    assert "max_size" in found.error
    folder = Path(points_folder(str(tmp_path / "ck")))
    assert not folder.exists() or list(folder.iterdir()) == []


def _aged(context, point, days):
    at = (datetime.now(UTC) - timedelta(days=days)).isoformat()
    document = msgspec.json.encode(replace(point, made_at=at)).decode()
    with closing(open_store(context.store_url)) as store, store.database.writing() as connection:
        mine = RESTORE_POINTS.c.id == point.id
        values = {"made_at": at, "document": document}
        connection.execute(sa.update(RESTORE_POINTS).where(mine).values(**values))


def _due(context):
    with closing(open_store(context.store_url)) as store, store.database.writing() as connection:
        connection.execute(sa.delete(RESTORE_POINT_TRIES))
    return list(make_due_points(context))


def test_points_expire_but_not_the_newest_nor_one_that_a_run_uses(writer, context):
    made = []
    for _ in range(4):
        writer.add()
        made.append(make_point(context, "q"))
    for point in made:
        _aged(context, point, days=3)
    run = used_by_run(context, made[1])
    with pytest.raises(RefusedError, match=run):
        remove_point(context, "q", made[1].id, by="ann")
    # Nothing new was committed: the newest stays, however old.
    said = _due(context)
    left = {row.id for row in list_points(context, "q").points}
    assert left == {made[1].id, made[3].id}
    assert any("expired" in line for line in said)
    assert [p.id for p in made if Path(p.location).exists()] == [made[1].id, made[3].id]


def test_points_are_made_when_due(writer, context):
    assert any("batch 7" in line for line in make_due_points(context))
    writer.add()
    assert list(make_due_points(context)) == []
    assert any("batch 8" in line for line in _due(context))


def test_a_new_store_finds_the_points(writer, context):
    point = make_point(context, "q")
    for file in context.home.glob("headgate.db*"):
        file.unlink()
    writer.add()
    make_point(context, "q")
    assert point.id in {row.id for row in list_points(context, "q").points}


@pytest.mark.parametrize(("rows", "word"), [(8, "verified"), (None, "only files verified")])
def test_a_check_says_everywhere_what_it_verified(writer, context, monkeypatch, capsys, rows, word):
    """Spark's reader needs Spark, and doesn't know every format; the other tests have it."""

    def read(self, location, batch):
        return (StoreRows(operator=0, store="default", rows=rows),)

    monkeypatch.setattr("headgate.gateway.adapters.state.StateAdapter.read", read)
    point = make_point(context, "q")
    assert list(check_due_points(context)) == [f"restore point {point.id} of q: {word}"]
    assert list(check_due_points(context)) == []
    config = ["--config", context.registry.path]
    with pytest.raises(SystemExit, match="0"):
        headgate.main([*config, "restore-points", "q", "--verify", point.id])
    first, row = capsys.readouterr().out.splitlines()[:2]
    assert first == f"Restore point {point.id}: {word}."
    assert f"  {word} 20" in row


def _too_new(document):
    document.write_text(document.read_text().replace('"files":', '"files":"many","more":'))


def _looped(document):
    document.unlink()
    document.symlink_to(document.name)


@pytest.mark.parametrize("break_", [_too_new, _looped])
@pytest.mark.parametrize("is_known", [True, False])
def test_a_point_whose_document_cannot_be_read_is_kept(writer, context, break_, is_known):
    """The file system may be busy, or a newer Headgate wrote it: nobody knows that it is bad."""
    point = make_point(context, "q")
    document = Path(f"{point.location}.json")
    was, files = document.read_bytes(), tree_hash(Path(point.location))
    if not is_known:
        for file in context.home.glob("headgate.db*"):
            file.unlink()
    break_(document)
    writer.add()
    second = make_point(context, "q")
    assert tree_hash(Path(point.location)) == files
    with pytest.raises(EvidenceError, match="can't be read"):
        damage(point, {})
    found = list_points(context, "q")
    assert set(found.unreadable) == (set() if is_known else {point.id})
    assert point.location in "".join(found.unreadable.values()) or is_known
    document.unlink()
    document.write_bytes(was)
    writer.add()
    third = make_point(context, "q")
    assert damage(point, {}) is None
    found = list_points(context, "q")
    assert {row.id for row in found.points} == {point.id, second.id, third.id}
    assert found.unreadable == {}


def test_delete(writer, context):
    point = make_point(context, "q")
    remove_point(context, "q", point.id, by="ann")
    assert list_points(context, "q").points == ()
    assert list(Path(points_folder(point.source)).iterdir()) == []
    with pytest.raises(NotFoundError, match=point.id):
        remove_point(context, "q", point.id, by="ann")


def test_damage_is_found(writer, context):
    point = make_point(context, "q")
    file = Path(point.location) / "state/0/2/7.delta"
    file.unlink()
    assert damage(point, {}) == f"{file} is missing"
    file.write_bytes(b"short")
    assert damage(point, {}) == f"{file} has 5 bytes instead of 100"


@pytest.mark.parametrize(
    ("line", "every"),
    [
        ("restore_points = false\n", None),
        ('restore_points = { every = "15 minutes" }\n', timedelta(minutes=15)),
        ("", timedelta(hours=1)),
    ],
)
def test_a_pipeline_has_its_own_schedule(tmp_path, line, every):
    context = context_of(tmp_path, more=line)
    found = context.registry.point_schedule(context.registered("q"))
    expected = PointSchedule(every=every, keep=timedelta(days=2), max_bytes=10**9)
    assert found == expected


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ('keep = "1 day"', "need `every`"),
        ('every = "soon"', "expected a duration"),
        ('every = "0 h"', "longer than 0"),
        ('every = "2h"\nkeep = "1h"', "at least as long"),
        ('every = "2h"\nmax_size = "many"', "expected a size"),
        ('every = "2h"\nevry = "1h"', "did you mean 'every'"),
    ],
)
def test_a_wrong_schedule_is_named(tmp_path, text, error):
    (tmp_path / "headgate.toml").write_text(f"[restore_points]\n{text}\n")
    with pytest.raises(RegistryError, match=error):
        open_context(str(tmp_path / "headgate.toml"))


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("commits/7", "v1\n{", r"commits/7 can't be read"),
        ("state/0/1/8.delta", None, r"8\.delta"),
    ],
)
def test_a_damaged_checkpoint_is_not_blamed_on_sparks_clean_up(
    context, writer, tmp_path, file, content, said
):
    path = tmp_path / "ck" / file
    path.unlink()
    if content is not None:
        path.write_text(content)
    with pytest.raises(RefusedError, match=said) as raised:
        make_point(context, "q")
    assert "is damaged: its newest batch 7 can't be copied" in str(raised.value)
    assert str(raised.value).endswith("run `headgate plan repair q`")
    assert list_points(context, "q").error == str(raised.value)


def test_a_query_that_is_faster_than_the_copy_is_named(context, writer, monkeypatch):

    batches = iter((7, 7, 8))

    def keep(*_):
        raise FilesGoneError("ck", next(batches), "gone")

    monkeypatch.setattr(points, "keep", keep)
    with pytest.raises(StepError, match=r"raise spark\.sql\.streaming\.minBatchesToRetain"):
        make_point(context, "q")
