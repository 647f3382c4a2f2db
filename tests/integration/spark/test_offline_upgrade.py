"""A real query is upgraded, judged, refused by Spark itself, taken back and repaired."""

import json
import time
from collections import Counter

import pytest

import headgate
from headgate.gateway.checkpoint.folders import read_checkpoint, tree_hash
from integration.conftest import Team, end_workers
from integration.spark.driven import Driven
from support.file_hashes import hashes
from support.waiting import PATIENCE, until

pytestmark = [pytest.mark.kafka, pytest.mark.spark, pytest.mark.long]
JOBS = """
import json
from pyspark.sql import functions as F

def read(spark, topic):
    source = spark.readStream.format("kafka").option("kafka.bootstrap.servers", "{broker}")
    source = source.option("subscribe", topic).option("startingOffsets", "earliest")
    return source.load().select(F.col("value").cast("string").alias("city"))

def write(df, version):
    def each(rows, batch):
        line = {{"version": version, "batch": batch, "rows": [r.asDict() for r in rows.collect()]}}
        with open("{folder}/out.jsonl", "a") as out:
            out.write(json.dumps(line) + "\\n")
    writer = df.writeStream.outputMode("update").foreachBatch(each)
    return writer.option("checkpointLocation", "{folder}/checkpoint").trigger(
        processingTime="300 milliseconds")

def counts(spark):
    return write(read(spark, "{topic}").groupBy("city").count(), "counts")

def only_known(spark):
    known = read(spark, "{topic}").where("city <> ''")
    return write(known.groupBy("city").count(), "only_known")

def more(spark):
    lengths = F.max(F.length("city")).alias("longest")
    counted = read(spark, "{topic}").groupBy("city").agg(F.count("*").alias("count"), lengths)
    return write(counted, "more")

def elsewhere(spark):
    return write(read(spark, "{other}").groupBy("city").count(), "elsewhere")
"""


class Pipeline(Driven):
    """A query that counts cities, run by registered commands; `current` names its function."""

    def __init__(self, spark, team, topic, produce):
        super().__init__(team.folder)
        self.spark, self.team, self.produce = spark, team, produce
        self.topic, self.other = topic("orders", partitions=2), topic("other", partitions=2)
        self.sent, self.captured = [], {}
        fields = {"broker": team.bootstrap, "folder": self.folder}
        self.jobs = JOBS.format(topic=self.topic, other=self.other, **fields)
        (self.folder / "jobs.py").write_text(self.jobs)
        (self.folder / "current").write_text("counts")
        self.commands |= {"deploy": "cp next current", "rollback": "echo counts > current"}
        team.register(self.table("counts", 'watch = "watch"', 'entry_point = "jobs:counts"'))

    def begin(self):
        jobs = {}
        exec(self.jobs, jobs)
        return jobs[(self.folder / "current").read_text().strip()](self.spark).start()

    @property
    def checkpoint(self):
        return self.folder / "checkpoint"

    def send(self, cities):
        self.produce(self.topic, cities)
        self.sent += cities

    def send_quickly(self):
        """Let the last batches be short: after long or rare ones a stop is watched for longer."""
        for n in range(6):
            self.send([f"city-{n}"])
            self.wait_until_read()

    def capture(self, function):
        file = self.folder / f"{function}.json"
        if not file.exists():
            self.team.run("capture", f"jobs:{function}", "-o", str(file))
        return str(file)

    def upgrade(self, after, *options, function=None, code=0):
        (self.folder / "next").write_text(function or "")
        given = ("--after", after, *options)
        return self.team.plan("counts", *given, scenario="offline-upgrade", code=code)

    def out(self):
        file = self.folder / "out.jsonl"
        lines = file.read_text().splitlines() if file.exists() else []
        return [json.loads(line) for line in lines]

    def results(self, *versions):
        """The newest count of each city, as these versions of the code wrote them."""
        rows = [r for line in self.out() if line["version"] in versions for r in line["rows"]]
        return {row["city"]: row["count"] for row in rows}

    def read(self):
        """The records that committed batches have taken."""
        found = read_checkpoint(str(self.checkpoint))
        if found is None or found.last_commit_batch != found.last_offset_batch:
            return None
        return sum(found.offsets.get(self.topic, {}).values())

    def wait_until_read(self):
        self.wait_for(lambda: self.read() == len(self.sent))

    def wait_for(self, condition):
        until(condition, lambda: self.why, every=0.1, seconds=2 * PATIENCE)


@pytest.fixture(scope="module")
def pipeline(spark, tmp_path_factory, topic, produce, broker):
    """It runs, and has read records out of order and some of them twice; each test leaves it so."""
    team = Team(tmp_path_factory.mktemp("upgraded"), broker)
    with (
        Pipeline(spark, team, topic, produce) as made,
        headgate.watch(spark, team.folder / "watch"),
    ):
        made.send([f"city-{n * 7 % 4}" for n in range(18)] + ["city-1", "city-1"])
        made.shell("start")
        made.wait_until_read()
        # What runs, stored: the checkpoint alone tells too little for a verdict.
        team.run("capture", "jobs:counts", "--pipeline", "counts")
        yield made
        made.shell("stop")
    end_workers(team)


def test_an_upgrade_goes_on_with_the_state_and_back_byte_for_byte(pipeline):
    # A version that the verdict refuses: nothing runs, and the reason has its code.
    before = read_checkpoint(str(pipeline.checkpoint))
    _, refused = pipeline.upgrade("jobs:more", code=3)
    assert not refused["steps"] and "the check of the new version fails" in refused["blockers"][0]
    assert "headgate plan from-scratch" in " ".join(refused["blockers"])
    assert read_checkpoint(str(pipeline.checkpoint)).head == before.head
    assert pipeline.shell("status") == 0

    file, plan = pipeline.upgrade(pipeline.capture("only_known"), function="only_known")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == [
        "stop_pipeline",
        "recheck_version",
        "back_up_checkpoint",
        "deploy_version",
        "start_version",
        "verify_version",
        "compare_version",
    ]
    pipeline.send_quickly()
    process = pipeline.team.popen("apply", str(file), "--format", "json")
    while process.poll() is None:
        # A producer keeps writing: the first batch of the new version has something to take.
        pipeline.send(["city-2", "city-9"])
        time.sleep(0.5)
    out, err = process.communicate()
    assert process.returncode == 0, f"{out}\n{err}\n{pipeline.team.worker_log()}"
    done = json.loads(out)
    said = [n["message"] for n in pipeline.team.run("runs", done["run"])["progress"]]
    # The plan is the judged one; what `foreachBatch` calls is in no plan, which is said.
    (seen,) = [note for note in said if note.startswith("Headgate can't verify that counts")]
    assert "Spark's query plan doesn't show the code of each" in seen, seen
    assert seen.endswith("shows match the checked version"), seen
    pipeline.wait_until_read()
    assert pipeline.results("counts", "only_known") == Counter(pipeline.sent)
    kept = tree_hash(pipeline.folder / f".checkpoint.before-{done['run']}")

    undone = pipeline.team.run("undo", done["run"])
    assert undone["state"] == "done", undone
    notes = pipeline.team.run("runs", undone["run"])["progress"]
    assert any(kept[:12] in note["message"] for note in notes)
    assert read_checkpoint(str(pipeline.checkpoint)).query_id == before.query_id
    pipeline.send(["city-0"])
    pipeline.wait_until_read()
    # What the old code wrote is what it had written without any upgrade.
    assert pipeline.results("counts") == Counter(pipeline.sent)
    assert (pipeline.folder / "current").read_text().strip() == "counts"


def test_what_spark_refuses_is_taken_back_by_itself(pipeline):
    version = pipeline.capture("more")
    file, plan = pipeline.upgrade(version, "--fail-on", "none", function="more")
    assert plan["can_apply"] and plan["impact"]["verdict"] == "refuses"
    since = len(pipeline.out())
    pipeline.send_quickly()
    process = pipeline.team.popen("apply", str(file), "--format", "json")
    sent = False
    while process.poll() is None:
        if not sent and (pipeline.folder / "current").read_text() == "more":
            # It must come to its first batch: only there Spark looks at the state.
            pipeline.send(["city-5"] * 3)
            sent = True
        time.sleep(0.2)
    out, err = process.communicate()
    assert process.returncode == 3, f"{out}\n{err}\n{pipeline.team.worker_log()}"
    said = json.loads(out)
    assert (
        said["state"] == "refused" and "ended before it completed its first batch" in said["error"]
    )
    assert {s["state"] for s in said["steps"]} <= {"undone", "skipped", "failed"}
    pipeline.wait_until_read()
    assert pipeline.results("counts") == Counter(pipeline.sent)
    assert {line["version"] for line in pipeline.out()[since:]} == {"counts"}


def test_the_trace_of_a_refused_upgrade_is_repaired_and_proven(pipeline):
    pipeline.shell("stop")
    pipeline.produce(pipeline.other, ["x", "y", "z"])
    (pipeline.folder / "current").write_text("elsewhere")
    pipeline.shell("start")
    pipeline.wait_for(lambda: pipeline.shell("status") == 3)
    assert pipeline.topic in pipeline.why and "have been deleted" in pipeline.why
    (pipeline.folder / "current").write_text("counts")
    broken = hashes(pipeline.checkpoint)

    file, plan = pipeline.team.plan("counts", scenario="repair")
    assert plan["can_apply"], plan["blockers"]
    assert [s["action"] for s in plan["steps"]] == [
        "stop_pipeline",
        "repair_copy",
        "verify_repair",
        "swap_repaired_checkpoint",
        "start_pipeline",
    ]
    assert f"the last committed batch reads {pipeline.topic}, but" in plan["impact"]["issues"][0]
    done = pipeline.team.run("apply", str(file))
    assert done["state"] == "done"
    detail = pipeline.team.run("runs", done["run"])
    assert any("Spark resumed on the copy" in note["message"] for note in detail["progress"])
    pipeline.send(["city-0", "city-7"])
    pipeline.wait_until_read()
    assert pipeline.results("counts") == Counter(pipeline.sent)
    aside = pipeline.folder / f".checkpoint.broken-{done['run']}"
    assert hashes(aside).items() >= broken.items()

    pipeline.team.run("undo", done["run"])
    assert hashes(pipeline.checkpoint).items() >= broken.items()
