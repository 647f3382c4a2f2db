"""Twin runs on real Spark: both versions on the same generated rows, and bad versions."""

import contextlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from headgate.errors import CaptureError
from headgate.gateway.spark.run_job import Checkout
from headgate.gateway.spark.twin_version import TwinProcess
from headgate.usecases.rehearsal.twin_sample import SampleWish
from headgate.usecases.rehearsal.twin_spark import PREFIX, TwinOptions, run_twin
from support.waiting import PATIENCE

pytestmark = pytest.mark.spark

FOLDER = Path(__file__).parent


@pytest.fixture(scope="module")
def processes(tmp_path_factory):
    """Two Sparks for all versions of this module: each start takes seconds."""
    folder = tmp_path_factory.mktemp("twin")
    with contextlib.ExitStack() as stack:
        yield tuple(
            stack.enter_context(TwinProcess(folder / name, Checkout((FOLDER,))))
            for name in ("old", "new")
        )


@pytest.fixture
def twin(processes, tmp_path):
    def run(before, after, **options):
        names = (f"twin_queries:{name}" for name in (before, after))
        chosen = TwinOptions(scratch=tmp_path, **options)
        return run_twin(*names, options=chosen, processes=processes)

    yield run
    assert list(tmp_path.glob(f"{PREFIX}*")) == []


@pytest.mark.parametrize(
    ("before", "after", "outcome"),
    [
        ("base", "renamed", "resumes"),
        # Spark asks for the last batch's files again, and they lie under the old path.
        ("base", "other_path", "refuses"),
        ("from_kafka", "from_kafka_renamed", "resumes"),
        pytest.param("base", "joined", "resumes", marks=pytest.mark.long),
        pytest.param("base", "of_subqueries", "resumes", marks=pytest.mark.long),
        ("base", "swapped", "silently_wrong"),
        pytest.param("base", "other_key", "silently_wrong", marks=pytest.mark.long),
        pytest.param("by_function", "by_function_renamed", "resumes", marks=pytest.mark.long),
        ("base", "by_chance", "unknown"),
    ],
)
@pytest.mark.long
def test_what_the_engine_does(twin, before, after, outcome):
    found = twin(before, after)
    assert (found.verdict.outcome, found.report.outcome.word) == (outcome, outcome)
    assert found.verdict.rows in (674, 2 * 674)


@pytest.mark.long
def test_the_checkpoint_keeps_the_watermark_policy(twin):
    """Whatever the new version sets: its own run over all rows takes the old policy, too."""
    found = twin("slower_port", "faster_port")
    assert (found.verdict.outcome, found.report.outcome.word) == ("resumes", "no_effect")
    assert "the same state" in found.verdict.why


@pytest.mark.long
def test_rules_judge_what_generated_rows_can_not_show(twin):
    """Another topic is refused for its offsets; on generated rows there are none."""
    found = twin("from_kafka", "from_other_topic")
    assert (found.verdict.outcome, found.report.outcome.word) == ("resumes", "refuses")
    (disagreement,) = found.disagreements
    assert (disagreement.rule, disagreement.engine.word) == ("KAF001", "resumes")


def test_a_refusal_has_the_engines_condition(twin):
    found = twin("base", "counted").verdict
    assert found.outcome == "refuses"
    assert found.refusal.error_class == "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE"


def test_swapped_columns_have_a_counterexample_and_rows_repeat(twin):
    found, again = (twin("base", "swapped", seed=seed).verdict for seed in (3, 3))
    example = found.counterexample
    assert (example.match.before_column, example.match.after_column) == (0, 1)
    assert example.match.keys == example.match.of > 20
    assert example.before != example.after and example.columns == ("sum", "sum")
    assert (again.counterexample, again.rows_out) == (example, found.rows_out)
    assert twin("base", "swapped", seed=4).verdict.counterexample != example


@pytest.mark.long
def test_the_same_query_in_other_words_is_not_run(twin):
    found = twin("base", "written_otherwise").verdict
    assert (found.outcome, found.equivalence.is_same, found.rows) == ("resumes", True, 0)
    renamed = twin("base", "renamed").verdict
    assert renamed.equivalence.plan and renamed.equivalence.differs == ("output columns",)
    assert renamed.rows > 0


def test_catalyst_says_which_part_of_the_plan_is_unchanged(twin):
    aggregate, distinct = twin("distinct", "distinct_swapped").verdict.equivalence.operators
    assert (aggregate.operator_id, aggregate.operator) == (0, "Aggregate")
    assert (aggregate.inputs, aggregate.keys, aggregate.values) == (True, True, False)
    assert (distinct.inputs, distinct.keys, distinct.values) == (True, True, True)
    by_code = twin("by_function", "by_other_function").verdict.equivalence
    assert by_code.plan is None and "user functions" in by_code.differs


@pytest.mark.long
def test_columns_of_a_joins_side_that_changed_places_are_wrong(twin):
    found = twin("pairs", "pairs_swapped").verdict
    assert found.outcome == "silently_wrong" and found.counterexample.store == "left"


@pytest.mark.long
def test_rows_are_counted_at_filters_and_operators(twin):
    found = twin("base", "other_filter").verdict
    old, new = found.filters
    assert old.after is None and new.before is None and "v > 20" in new.condition
    assert 0 < new.after[1] < old.before[1] < old.before[0] == new.after[0] == 410
    (operator,) = found.operators
    assert (operator.reached_before, operator.reached_after) == (old.before[1], new.after[1])
    assert operator.rows_after > 0


def test_a_filter_that_no_row_passes_never_resumes(twin):
    found = twin("base", "unreached").verdict
    assert found.outcome == "unknown" and "no row passed the filter" in found.why


@pytest.mark.long
def test_a_change_inside_a_function_is_seen_by_its_words(twin):
    found = twin("by_function", "by_other_function").verdict
    assert found.outcome == "silently_wrong" or found.mixed
    assert found.outcome != "unknown"


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("raises", "twin_queries.py:\\d+: ValueError: no such tenant"),
        ("of_table", "twin runs have no access to a catalog"),
        ("without_schema", "the json source /data/orders infers its schema"),
        ("connects", "twin_queries.py:\\d+: the function connects to localhost:9 while"),
        ("writes_a_file", "the function writes .*/written-by-a-twin while"),
        ("writes_a_batch", "the function writes a batch .INSERT."),
        ("writes_an_rdd", "the function writes a batch .saveAsTextFile."),
        ("makes_a_folder_in_java", "the function writes a batch .*LocalFileSystem.mkdirs."),
        ("writes_a_frame_in_java", "the function writes a batch .DataFrameWriter.json."),
        ("asks", "EOF when reading a line; Headgate calls the function without standard input"),
        ("starts_a_program", "the function starts a program touch while"),
        ("writes_a_database", "the function writes .*/written-by-a-twin while"),
        ("listens", "the function listens on 0.0.0.0:0 while"),
    ],
)
def test_a_version_that_can_not_be_built_is_unknown(twin, after, said):
    found = twin("base", after)
    assert (found.verdict.outcome, found.report.outcome.word) == ("unknown", "unknown")
    assert re.search(f"twin_queries:{after} failed at|twin_queries:{after} at", found.verdict.why)
    assert re.search(said, found.verdict.why) and "\n" not in found.verdict.why
    assert "without access to servers and tables?" in found.report.findings[0].question
    assert not (FOLDER / "written-by-a-twin").exists()


@pytest.mark.parametrize(
    ("after", "said"),
    [
        ("writes_for_each_row", "the function writes .*/written-by-a-twin while it processes"),
        ("connects_for_each_row", "the function connects to 192.0.2.1:5432 while it processes"),
        ("starts_a_program_for_each_row", "the function starts a program true while it processes"),
        ("needs_memory_for_each_row", "MemoryError"),
    ],
)
def test_a_function_of_rows_reaches_nothing_outside(twin, after, said):
    found = twin("base", after)
    assert (found.verdict.outcome, found.report.outcome.word) == ("unknown", "unknown")
    assert re.search(said, found.verdict.why), found.verdict.why
    assert not (FOLDER / "written-by-a-twin").exists()


def test_a_function_may_make_its_tables_and_views(twin):
    """Headgate calls it twice, and a process calls the functions of several versions."""
    assert twin("makes_tables", "makes_tables").verdict.outcome == "resumes"
    assert twin("base", "makes_tables").verdict.outcome == "resumes"


def test_a_thread_of_the_function_writes_nothing_later(twin):
    assert twin("base", "writes_later").verdict.outcome == "resumes"
    assert not (FOLDER / "written-by-a-twin").exists()


@pytest.mark.parametrize("after", ["connects_if_it_can", "returns_rows"])
@pytest.mark.long
def test_code_that_can_do_without_a_connection_is_run(twin, after):
    assert twin("base", after).verdict.outcome == "resumes"


def test_there_has_to_be_a_function(twin):
    with pytest.raises(CaptureError, match="has no function nothing"):
        twin("base", "nothing")


@pytest.mark.long
def test_values_of_a_sample_are_never_shown(twin, tmp_path):
    sample = tmp_path / "sample.csv"
    sample.write_text("k,v,w,note\n" + "".join(f"Ada-{n},{9000 + n},{n},gold\n" for n in range(30)))
    found = twin("base", "swapped", sample=SampleWish((f"orders={sample}",)))
    assert found.verdict.outcome == "silently_wrong"
    shown = repr((found.report, found.verdict, found.hints))
    assert "Ada-" not in shown and "ada-" not in shown and "90" not in found.report.findings[0].why
    assert not found.verdict.counterexample.masked
    unseen = twin("base", "unreached", sample=SampleWish((f"orders={sample}",)))
    assert unseen.verdict.outcome == "unknown"


@pytest.mark.long
def test_a_rule_about_state_is_lowered_by_two_runs(twin):
    found = twin("keyed", "keyed_otherwise")
    (lowered,) = found.lowered
    assert (lowered.rule, lowered.seeds) == ("AGG001", (7, 8))
    assert lowered.rules.word == "unknown"
    assert found.report.outcome.word == "resumes"
    assert "two twin runs (seeds 7 and 8)" in found.report.findings[0].why
    # A question that a run answers is no disagreement.
    assert found.disagreements == ()


@pytest.mark.long
def test_too_few_keys_are_run_again_with_more_and_decide(twin):
    found = twin("hourly", "hourly_otherwise").verdict
    assert found.outcome == "resumes"
    assert found.operators[0].keys >= 8
    moved = twin("hourly", "hourly_by_pmod").verdict
    assert moved.outcome == "silently_wrong" and "belong to other keys" in moved.why


@pytest.mark.long
def test_a_rule_about_a_function_of_the_user_is_not_lowered(twin):
    found = twin("upper_key", "upper_key_by_function")
    assert (found.verdict.outcome, found.lowered) == ("resumes", ())
    assert found.report.outcome.word == "unknown"


@pytest.mark.long
def test_a_version_that_fails_on_rows_decides_nothing(twin):
    found = twin("base", "fails_on_rows").verdict
    assert found.outcome == "unknown" and "--sample" in found.question
    old = twin("fails_on_rows", "base").verdict
    assert old.outcome == "unknown" and "old version fails" in old.why


ENDLESS = """
import socket, time

def endless(spark):
    time.sleep(600)
"""


def test_the_command_prints_the_contract(tmp_path):
    (tmp_path / "twin_queries.py").write_text((FOLDER / "twin_queries.py").read_text())
    command = [str(Path(sys.executable).with_name("headgate")), "rehearse", "--format", "json"]
    done = subprocess.run(
        [*command, "--before", "twin_queries:base", "--after", "twin_queries:swapped"],
        cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr
    found = json.loads(done.stdout)
    assert found["outcome"] == found["engine"]["outcome"] == "silently_wrong"
    assert found["findings"][0]["rule"] == "TWN002"
    assert {f["rule"]: f["rollback"] for f in found["findings"]} == {
        "TWN002": "safe",
        "AGG002": "safe",
    }
    assert found["counterexample"]["match"]["before_column"] == 0
    assert found["counterexample"]["where"].startswith("aggregate-")
    assert found["coverage"]["operators"][0]["rows_before"] > 20
    assert found["coverage"]["operators"][0]["id"] == found["counterexample"]["where"]
    assert found["disagreements"] == []


@pytest.mark.long
def test_an_endless_version_ends(tmp_path):
    (tmp_path / "endless.py").write_text(ENDLESS)
    (tmp_path / "twin_queries.py").write_text((FOLDER / "twin_queries.py").read_text())
    with contextlib.chdir(tmp_path):
        endless = run_twin("twin_queries:base", "endless:endless", options=TwinOptions(seconds=20))
    assert endless.verdict.outcome == "unknown"
    assert endless.verdict.why.endswith("endless:endless did not return in time")
