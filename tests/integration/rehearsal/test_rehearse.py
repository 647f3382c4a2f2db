"""Rehearsals of recorded restarts by real Spark: its verdict, and nothing else touched."""

import contextlib
import hashlib
import json
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.errors import CaptureError, EvidenceError
from headgate.model.rehearsal import EngineOutcome, RollbackTrial, Stage
from headgate.rules.compare.engine_agreement import Agreement
from headgate.usecases.rehearsal.rehearse_spark import PREFIX, Options, rehearse
from support.waiting import until

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "scripts"))
from rehearse_corpus import prepare  # noqa: E402

CASES = ROOT / "tests" / "cases" / "rehearsal"
CONF = {"spark.sql.shuffle.partitions": "2"}
# What would tell that a function of the query was called, or a listener of its own.
MEDDLING = """

def meddling(spark):
    from pathlib import Path
    from pyspark.sql.streaming import StreamingQueryListener
    print("{not JSON")
    class WatchedRun(StreamingQueryListener):
        def onQueryStarted(self, event): Path("told").touch()
        def onQueryProgress(self, event): pass
        def onQueryIdle(self, event): pass
        def onQueryTerminated(self, event): pass
    spark.streams.addListener(WatchedRun())
    def write(df, batch): Path("called").touch()
    counted = src(spark, _Places()).groupBy("k").agg(F.count("*").alias("c"), F.sum("v").alias("s"))
    writer = counted.writeStream.outputMode("update").foreachBatch(write)
    other = src(spark, _Places()).writeStream.format("noop").queryName("other").start()
    query = writer.queryName("counts").option("checkpointLocation", "elsewhere").start()
    query.awaitTermination()
    spark.stop()
"""

FRAME = """

def frame(spark):
    rows = src(spark, _Places())
    return rows.groupBy("k").agg(F.count("*").alias("c"), F.sum("v").alias("s"))
"""


@pytest.fixture
def laid_out(tmp_path, monkeypatch):
    """Lay out a case, make its folder the working directory, and give scratch a place there."""

    def make(name: str) -> tuple[Path, Options]:
        folder = prepare(CASES / name, tmp_path)
        scratch = tmp_path / "scratch"
        scratch.mkdir()
        monkeypatch.chdir(folder)
        return folder, Options(conf=CONF, scratch=scratch)

    return make


def contents(folder: Path) -> dict[str, str]:
    files = (f for f in folder.rglob("*") if f.is_file())
    return {str(f.relative_to(folder)): hashlib.sha256(f.read_bytes()).hexdigest() for f in files}


@pytest.mark.spark
def test_a_refusal_is_told_by_its_own_condition_and_nothing_else_is_touched(laid_out):
    folder, options = laid_out("agg_add_column")
    with (folder / "after.py").open("a") as module:
        module.write(MEDDLING)
    before = contents(folder)
    said = []
    found = rehearse(
        str(folder / "checkpoint"),
        "after:meddling",
        options=Options(conf=CONF, scratch=options.scratch, query="counts"),
        say=said.append,
    )
    engine = found.engine
    assert engine.outcome is EngineOutcome.REFUSES
    assert engine.error_class == "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"
    assert engine.stage is Stage.AFTER_OFFSETS
    assert engine.rows_in is None
    # Two keys were counted: `a` and `b`.
    assert [(s.operator, s.before, s.after) for s in engine.state] == [("stateStoreSave", 2, None)]
    assert found.judged.agreement is Agreement.AGREE
    assert engine.checkpoint is not None
    assert engine.checkpoint.is_unchanged
    assert engine.checkpoint.files == sum(1 for name in before if name.startswith("checkpoint/"))
    assert contents(folder) == before
    assert not list(options.scratch.glob(f"{PREFIX}*"))


@pytest.mark.spark
def test_a_function_may_return_the_dataframe_alone(laid_out):
    folder, options = laid_out("agg_add_column")
    with (folder / "after.py").open("a") as module:
        module.write(FRAME)
    engine = rehearse(str(folder / "checkpoint"), "after:frame", options=options).engine
    assert engine.error_class == "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"
    # There is no watermark, so that Spark allows no append mode.
    assert any("used output mode update" in told for told in engine.not_exercised)


@pytest.mark.long
@pytest.mark.spark
def test_both_versions_get_the_same_input_and_their_output_is_compared(laid_out):
    folder, options = laid_out("agg_min_to_max")
    found = rehearse(
        str(folder / "checkpoint"), "after:rehearsed", before="before:rehearsed", options=options
    )
    engine, output = found.engine, found.engine.output
    assert engine.outcome is EngineOutcome.RESUMES
    assert (engine.rows_in, engine.rows_out) == (3, 3)
    # Stored are the least of a (1) and of b (10); then come a 5, c 7 and b -3.
    assert output is not None
    assert output.same_input
    told = [
        sorted((r["k"], r["m"]) for r in s) for s in (output.sample_before, output.sample_after)
    ]
    assert told == [[("a", 1), ("b", -3)], [("a", 5), ("b", 10)]]
    assert (output.equal, output.only_before, output.only_after) == (1, 2, 2)
    assert [(s.before, s.after) for s in engine.state] == [(2, 3)]
    # What the new one wrote into the state has the old one's type: it goes on with it.
    assert engine.rollback == RollbackTrial(outcome=EngineOutcome.RESUMES)
    assert found.report.outcome.word == "silently_wrong"
    assert found.judged.agreement is Agreement.AGREE


@pytest.mark.spark
@pytest.mark.long
def test_without_a_batch_no_source_is_reached_and_the_state_is_still_checked(laid_out):
    folder, options = laid_out("join_inner_to_left")
    for name in ("src", "src2"):
        for file in (folder / "data" / name).iterdir():
            file.unlink()
        (folder / "data" / name).rmdir()
    found = rehearse(
        str(folder / "checkpoint"),
        "after:rehearsed",
        options=Options(batch="none", conf=CONF, scratch=options.scratch),
    )
    recorded = json.loads((CASES / "join_inner_to_left" / "outcome.json").read_text())
    assert found.engine.outcome is EngineOutcome.REFUSES
    assert found.engine.error_class == recorded["error_class"]
    assert "no source was read" in found.engine.not_exercised[0]
    assert found.engine.checkpoint is not None
    assert found.engine.checkpoint.is_unchanged


def test_what_can_not_be_rehearsed_is_said_before_spark_is_started(tmp_path):
    (tmp_path / "notes.txt").write_text("no checkpoint")
    with pytest.raises(
        EvidenceError, match="isn't a Spark checkpoint: the folder has no offset log"
    ):
        rehearse(str(tmp_path), "module:function")
    with pytest.raises(EvidenceError, match="checkpoint: it is a file, not a folder"):
        rehearse(str(tmp_path / "notes.txt"), "module:function")
    with pytest.raises(EvidenceError, match="gone not found"):
        rehearse(str(tmp_path / "gone"), "module:function")
    with pytest.raises(CaptureError, match=r"query\.py isn't a module:function"):
        rehearse(str(tmp_path), "query.py")


@pytest.mark.spark
def test_nothing_outlives_a_rehearsal_that_was_killed(laid_out):
    folder, options = laid_out("agg_add_column")
    (folder / "endless.py").write_text("while True: pass\n")
    command = [sys.executable, "-m", "headgate.cli.main", "rehearse", "--after", "endless:f"]
    command += ["--checkpoint", "checkpoint", "--scratch", str(options.scratch)]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.DEVNULL) as running:
        until(
            lambda: (
                running.poll() is not None
                or any("SparkSubmit" in line for line in knowing(options.scratch))
            )
        )
        assert running.poll() is None
        running.kill()
    until(lambda: not knowing(options.scratch), lambda: knowing(options.scratch))
    # What it left on the disk goes with the next one's start.
    assert list(options.scratch.iterdir())
    with pytest.raises(CaptureError, match="module gone can't be imported"):
        rehearse("checkpoint", "gone:f", options=options)
    assert not list(options.scratch.iterdir())


def knowing(folder: Path) -> list[str]:
    """Return the command lines of all processes that were given something in a folder."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            found.append(file.read_bytes().decode(errors="replace"))
    return [line for line in found if f"{folder}/" in line]
