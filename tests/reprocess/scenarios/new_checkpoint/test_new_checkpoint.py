"""A new checkpoint at the old one's positions: what is in it, and what a crash leaves."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from headgate.errors import StepError
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.registered_pipelines import Commands
from headgate.model.version import (
    Engine,
    OperatorKind,
    Sink,
    Source,
    StatefulOperator,
    Version,
    Window,
)
from headgate.parse.spark.checkpoint.source_log import cut_entries
from headgate.reprocess.plan import dump_plan, load_plan
from headgate.reprocess.ports.evidence import Output
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.steps.process import verify_output

pytestmark = pytest.mark.slow

GOLDEN = Path(__file__).parents[3] / "golden" / "checkpoints"
# It would not be started with the new id unless the checkpoint that was made is in place.
START = (
    "[ -e running ] && echo >> twice; touch running;"
    " [ -e ck/commits ] || { mkdir -p ck/offsets; touch ck/offsets/0; }"
)
COMMANDS = Commands(stop="rm -f running", start=START, status="[ -e running ] && exit 0 || exit 3")
KAFKA = {"orders": {"0": 7, "1": 9}}


def log(folder: Path, name: str, *lines: object) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("\n".join(["v1", *(x if isinstance(x, str) else json.dumps(x) for x in lines)]))


def seen(path: str, batch: int, at: int = 1000) -> dict:
    return {"path": f"file:///in/{path}", "timestamp": at, "batchId": batch}


@pytest.fixture
def query(lab):
    """A query over Kafka and files: batch 5 is committed, batch 6 was begun."""

    def make():
        made = lab(COMMANDS)
        ck = made.folder / "ck"
        shutil.rmtree(ck)
        ck.mkdir()
        (ck / "metadata").write_text('{"id":"old"}')
        about = {"batchWatermarkMs": 0, "batchTimestampMs": 1}
        log(ck, "offsets/5", about, KAFKA, {"logOffset": 1})
        log(ck, "offsets/6", about, {"orders": {"0": 8, "1": 9}}, {"logOffset": 2})
        log(ck, "commits/5", {"nextBatchWatermarkMs": 60_000})
        log(ck, "sources/0/0", {"orders": {"0": 0, "1": 0}})
        for entry, name in enumerate("abc"):
            log(ck, f"sources/1/{entry}", seen(name, entry, 1000 * entry))
        operator = {"operatorInfo": {"operatorId": 0, "operatorName": "stateStoreSave"}}
        log(ck, "state/0/_metadata/metadata", operator)
        return made

    return make


def plan(lab, scenario="new-checkpoint", version=None, **options):
    return build_plan(scenario, "q", lab.applier(), options, version=version)


def new_sources(folder: Path) -> dict[str, object]:
    """What the new checkpoint says, by source: Kafka's offsets, or the names of known files."""
    found = {}
    for file in sorted((folder / "sources").glob("*/0")):
        lines = file.read_bytes().lstrip(b"\0").decode().split("\n")
        assert lines[0] == "v1"
        values = [json.loads(line) for line in lines[1:]]
        files = "path" in values[0]
        found[file.parent.name] = [Path(v["path"]).name for v in values] if files else values[0]
    return found


def run(lab, made):
    run = lab.enqueue(made)
    lab.execute(run, made)
    return run


def test_the_new_one_begins_where_the_last_committed_batch_ended(query):
    lab = query()
    made = plan(lab)
    assert made.blockers == ()
    assert load_plan(dump_plan(made), source="p") == made
    assert any("batch 6 is uncommitted" in risk for risk in made.risks)
    assert any("stateStoreSave" in risk for risk in made.risks)
    assert any("1970-01-01T00:01:00" in risk for risk in made.risks)
    before = tree_hash(lab.folder / "ck")
    run(lab, made)
    ck = lab.folder / "ck"
    assert new_sources(ck) == {"0": KAFKA, "1": ["a", "b"]}
    assert not (ck / "commits").exists()
    assert not (ck / "state").exists()
    assert json.loads((ck / "metadata").read_text())["id"] != "old"
    (aside,) = lab.folder.glob(".ck.before-*")
    assert tree_hash(aside) == before
    assert not list(lab.folder.glob(".ck.new-*"))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["0=1", "1=0"], {"0": ["a", "b"], "1": KAFKA}),
        (["orders=0", "lines=1"], {"orders": KAFKA, "lines": ["a", "b"]}),
        (["0=0"], {"0": KAFKA}),
        (["0=new", "1=1", "2=0"], {"1": ["a", "b"], "2": KAFKA}),
    ],
)
def test_sources_change_places_and_names_as_said(query, rows, expected):
    lab = query()
    made = plan(lab, source=rows)
    assert made.blockers == ()
    run(lab, made)
    assert new_sources(lab.folder / "ck") == expected


def version(*sources: Source, **more) -> Version:
    return Version(engine=Engine.SPARK, sources=sources, **more)


def test_a_stored_version_tells_which_source_is_which(query):
    lab = query()
    files, kafka = (
        Source(position=0, format="text"),
        Source(position=1, format="kafka", topics=("orders", "more")),
    )
    made = plan(lab, version=version(files, kafka))
    assert made.blockers == ()
    assert any("reads more, which the old version did not" in risk for risk in made.risks)
    run(lab, made)
    assert new_sources(lab.folder / "ck") == {"0": ["a", "b"], "1": KAFKA}


def test_a_version_that_is_stored_meanwhile_and_tells_nothing_new_makes_no_other_plan(query):
    """A worker stores the first one when it first looks."""
    lab = query()
    same = version(
        Source(position=0, format="kafka", topics=("orders",)), Source(position=1, format="text")
    )
    assert plan(lab).hash == plan(lab, version=same).hash
    assert plan(lab).hash != plan(lab, source=["0=1", "1=0"]).hash


def test_a_topic_that_the_new_version_leaves_is_left(query):
    """Spark would take its partitions for lost data."""
    lab = query()
    log(lab.folder / "ck", "offsets/5", {}, {**KAFKA, "old": {"0": 3}}, {"logOffset": 1})
    kafka = Source(position=0, format="kafka", topics=("orders",))
    run(lab, plan(lab, version=version(kafka, Source(position=1, format="json"))))
    assert new_sources(lab.folder / "ck")["0"] == KAFKA


def test_sources_that_can_t_be_told_apart_are_asked_about(query):
    lab = query()
    log(lab.folder / "ck", "offsets/5", {}, KAFKA, KAFKA)
    kafka = Source(position=5, format="kafka", topics=("orders",))
    refused = plan(lab, version=version(kafka))
    assert (
        "could continue source 0 or 1 of the old version: choose one with --source NEW=OLD of "
        "new-checkpoint" in refused.blockers[0]
    )
    assert plan(lab, version=version(kafka), source=["5=0"]).blockers == ()
    log(lab.folder / "ck", "offsets/5", {}, KAFKA, {"orders": {"0": 1, "1": 9}})
    apart = plan(lab, source=["0=0,1"])
    assert "two sources have different offsets for orders[0] (7 and 1)" in apart.blockers[0]


def test_a_file_sink_that_would_drop_new_results_is_refused_until_it_is_another(query):
    lab = query()
    writes = version(
        Source(position=0, format="kafka", topics=("orders",)),
        Source(position=1, format="text"),
        sink=Sink(format="parquet", target="/out"),
    )
    (blocker,) = plan(lab, version=writes).blockers
    assert "silently dropped" in blocker
    (blocker,) = plan(lab, version=writes, new_output=True).blockers
    assert "pass the new folder with --output-path" in blocker
    made = plan(lab, version=writes, new_output=True, output_path=str(lab.folder / "new"))
    assert made.blockers == ()
    assert made.steps[-1].action == "verify_output"
    assert load_plan(dump_plan(made), source="p") == made


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        ("/out", "/out is the old output of q (source: the stored version)"),
        ("file:///seen", "is the old output of q (source: the watch)"),
        ("{folder}/used", "_spark_metadata has batches up to 12"),
        ("{folder}/ck/out", "is inside the checkpoint"),
        ("/in/deeper", "it would read its own output"),
    ],
)
def test_a_new_output_that_evidence_contradicts_is_blocked(query, path, reason):
    lab = query()
    log = lab.folder / "used" / "_spark_metadata"
    log.mkdir(parents=True)
    for name in ("9.compact", "12", ".12.crc"):
        (log / name).write_text("v1")
    lab.locate = lambda pipeline, query_id: (Output(place="/seen", told_by="the watch"),)
    writes = version(
        Source(position=0, format="kafka", topics=("orders",)),
        Source(position=1, format="text", path="file:/in"),
        sink=Sink(format="parquet", target="file:/out/"),
    )
    path = path.format(folder=lab.folder)
    (blocker,) = plan(lab, version=writes, new_output=True, output_path=path).blockers
    assert reason in blocker


WRITES = "mkdir -p {0}/_spark_metadata && echo v1 > {0}/_spark_metadata/0"


def started(query, writes):
    """A lab whose query, once started with its new checkpoint, does `writes` and commits."""
    lab = query()
    commands = replace(
        COMMANDS,
        start=f"touch running; mkdir -p ck/offsets ck/commits; touch ck/offsets/0; {writes};"
        " touch ck/commits/0",
    )
    (pipeline,) = lab.registry.pipelines
    lab.registry = replace(lab.registry, pipelines=(replace(pipeline, commands=commands),))
    return lab


def test_a_run_sees_that_the_query_writes_to_the_new_folder(query):
    lab = started(query, WRITES.format("new"))
    run(lab, plan(lab, new_output=True, output_path=str(lab.folder / "new")))


def test_a_run_whose_query_still_writes_to_the_old_folder_fails(query, monkeypatch):
    """A file sink skips numbers without an error: only its log shows that nothing was written."""
    monkeypatch.setattr(verify_output, "TOLD_SECONDS", 1.0)
    lab = started(query, WRITES.format("old"))
    with pytest.raises(
        StepError, match=r"a batch has completed, but the sink log of .*/new has no batch"
    ):
        run(lab, plan(lab, new_output=True, output_path=str(lab.folder / "new")))


def test_a_run_believes_the_watch_at_once(query):
    lab = started(query, "true")
    lab.locate = lambda pipeline, query_id: (Output(place="/old", told_by="the watch"),)
    with pytest.raises(StepError, match="the watch reports output to /old"):
        run(lab, plan(lab, new_output=True, output_path=str(lab.folder / "new")))


@pytest.mark.parametrize(
    ("lines", "sentence"),
    [
        ([17, {"logOffset": 1}], "source 0 is neither Kafka nor files"),
        ([KAFKA, {"logOffset": 7}], "sources/1/3 is missing"),
        (["{broken", {"logOffset": 1}], "offsets/5 is damaged"),
    ],
)
def test_what_no_new_checkpoint_can_say_is_refused(query, lines, sentence):
    lab = query()
    log(lab.folder / "ck", "offsets/5", {}, *lines)
    try:
        said = plan(lab).blockers
    except Exception as error:
        said = (str(error),)
    assert any(sentence in one for one in said), said


def test_nothing_committed_yet_means_from_its_own_beginning(query):
    lab = query()
    shutil.rmtree(lab.folder / "ck" / "commits")
    run(lab, plan(lab))
    assert new_sources(lab.folder / "ck") == {"0": {"orders": {"0": 0, "1": 0}}}


def test_files_are_known_after_their_log_was_compacted_beyond_the_batch(query):
    lab = query()
    folder = lab.folder / "ck" / "sources" / "1"
    shutil.rmtree(folder)
    log(folder, "9.compact", *(seen(name, entry) for entry, name in enumerate("abc")))
    run(lab, plan(lab))
    assert new_sources(lab.folder / "ck")["1"] == ["a", "b"]


def test_a_new_checkpoint_is_carried_over_again(query):
    """Its files stand under a number that no entry has."""
    lab = query()
    run(lab, plan(lab))
    ck = lab.folder / "ck"
    log(ck, "offsets/0", {}, KAFKA, {"logOffset": 1})
    log(ck, "commits/0", {"nextBatchWatermarkMs": 0})
    log(ck, "sources/1/1", seen("c", 1))
    (lab.folder / "running").unlink()
    run(lab, plan(lab))
    assert new_sources(ck) == {"0": KAFKA, "1": ["a", "b", "c"]}


def test_a_rewind_of_it_keeps_the_files_that_were_read_before(query):
    """Its entry 0 goes into a compacted entry that is taken apart again."""
    lab = query()
    run(lab, plan(lab))
    folder = lab.folder / "ck" / "sources" / "1"
    before = (folder / "0").read_text().split("\n")[1:]
    log(folder, "9.compact", *before, *(seen(f"n{n}", n) for n in range(1, 10)))
    (folder / "0").unlink()
    cut = cut_entries({f.name: f.read_bytes() for f in folder.iterdir()}, 1)
    assert cut["0"].decode().split("\n")[1:] == before
    assert set(cut) == {"0", "1"}


def test_a_rehearsal_needs_a_function(query):
    lab = query()
    (blocker,) = plan(lab, rehearse=True).blockers
    assert "sets no `entry_point`" in blocker
    (pipeline,) = lab.registry.pipelines
    lab.registry = replace(lab.registry, pipelines=(replace(pipeline, entry_point="a:b"),))
    actions = [s.action for s in plan(lab, rehearse=True).steps]
    assert actions.index("create_checkpoint") + 1 == actions.index("rehearse_new_checkpoint")
    assert actions.index("rehearse_new_checkpoint") + 1 == actions.index("swap_new_checkpoint")


def test_to_another_location_the_old_one_stays(query):
    lab = query()
    place = lab.folder / "next"
    before = tree_hash(lab.folder / "ck")
    made = plan(lab, to=str(place))
    assert [s.action for s in made.steps][-2:] == ["install_new_checkpoint", "manual_step"]
    lab.person = starts_at(lab, place)
    past = run(lab, made)
    assert new_sources(place) == {"0": KAFKA, "1": ["a", "b"]}
    assert tree_hash(lab.folder / "ck") == before
    undo(lab, past, made)
    assert not place.exists()
    assert tree_hash(lab.folder / "ck") == before
    for bad, sentence in (
        ("next", "expected an absolute path"),
        (str(lab.folder / "ck" / "in"), "is the old checkpoint, or is inside it"),
    ):
        assert sentence in plan(lab, to=bad).blockers[0]


def starts_at(lab, place):
    """A person who starts the new version: its query commits the batch that was offered."""

    def person(_word, request):
        assert str(place) in request
        (lab.folder / "running").touch()
        (place / "commits").mkdir(exist_ok=True)
        (place / "commits" / "0").write_text("v1\n{}")
        return "ann"

    return person


def undo(lab, past, made):
    back = lab.undo(past, made)
    assert back.blockers == ()
    lab.execute(lab.enqueue(back, undo_of=past), back, undo_of=past)


def test_an_undo_puts_every_byte_back(query):
    lab = query()
    before = tree_hash(lab.folder / "ck")
    made = plan(lab)
    past = run(lab, made)
    assert tree_hash(lab.folder / "ck") != before
    undo(lab, past, made)
    assert tree_hash(lab.folder / "ck") == before
    assert (lab.folder / "running").exists()


def test_a_crash_at_any_effect_is_made_good(query):
    # Every point is before or after an effect: each third one comes to all of them in turn.
    for at in range(0, 200, 3):
        lab = query()
        before = tree_hash(lab.folder / "ck")
        made = plan(lab)
        past = lab.enqueue(made)
        crashed = lab.crash(past, made, at)
        lab.execute(past, made)
        assert new_sources(lab.folder / "ck") == {"0": KAFKA, "1": ["a", "b"]}, at
        (aside,) = lab.folder.glob(".ck.before-*")
        assert tree_hash(aside) == before, at
        assert not (lab.folder / "twice").exists()
        if not crashed:
            break
    assert at > 20


def test_what_is_lost_is_said_and_that_it_was_not_read(query):
    operator = StatefulOperator(
        kind=OperatorKind.AGGREGATE,
        operator_id=0,
        output_mode="Append",
        window=Window(column="at", size_us=600_000_000),
    )
    made = plan(query(), version=Version(engine=Engine.SPARK, stateful=(operator,)))
    (lost,) = (risk for risk in made.risks if risk.startswith("Loss"))
    assert "windowed aggregation, append mode): an unknown number of open windows" in lost
    assert any("not read in this test" in risk for risk in made.risks)
    assert made.impact["open_state"][0]["rows"] is None


@pytest.mark.parametrize("name", sorted(p.parent.name for p in GOLDEN.glob("*/checkpoint")))
def test_every_recorded_checkpoint_is_read(lab, name):
    """What Spark itself has logged gives a plan, or a sentence that says why not."""
    made = lab(COMMANDS)
    shutil.rmtree(made.folder / "ck")
    shutil.copytree(GOLDEN / name / "checkpoint", made.folder / "ck")
    found = plan(made)
    if name == "stateless_rate":
        assert "neither Kafka nor files" in found.blockers[0]
    else:
        assert found.blockers == () or "neither Kafka" in found.blockers[0], found.blockers
    position = made.applier().checkpoints.query_position(str(made.folder / "ck"))
    assert position.sources
