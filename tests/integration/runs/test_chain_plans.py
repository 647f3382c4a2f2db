"""What a chain's plan names: others that write or read, cycles, what can't be correct."""

from __future__ import annotations

import json
import shutil
import time
from contextlib import closing
from pathlib import Path

import pytest

from headgate.model.version import Engine, OperatorKind, Sink, Source, StatefulOperator, Version
from headgate.parse.evidence.version_file import fingerprint
from headgate.reprocess.plan import changed
from headgate.text.times import from_milliseconds, iso
from headgate.usecases.evidence.refresh_versions import refresh_versions
from headgate.usecases.reprocess.plan_scenario import plan_scenario

pytestmark = pytest.mark.kafka
WRITTEN = Path(__file__).parents[2] / "golden" / "checkpoints" / "kafka_source" / "checkpoint"
COUNTS = (StatefulOperator(kind=OperatorKind.AGGREGATE),)
COMMANDS = '[pipeline.commands]\nstart = "true"\nstop = "true"\nstatus = "exit 3"\n'


class Shop:
    """Pipelines on paper over real topics: nothing runs, but Kafka and the store are asked."""

    def __init__(self, team, topic, produce, groups):
        self.team, self.topic, self.produce, self.groups = team, topic, produce, groups
        self.tables = []
        self.between = ""
        self.orders, self.upper = topic("orders", partitions=2), topic("upper", partitions=2)

    def query(self, name, reads, writes, stateful=(), entry=None):
        """A query whose batches end at offset 2 and at offset 3 of each partition."""
        folder = self.team.folder / name
        shutil.copytree(WRITTEN, folder)
        for log in ("offsets", "sources/0"):
            for file in (folder / log).iterdir():
                text = file.read_text().replace('{"orders":', f'{{"{reads}":')
                file.write_text(text)
        more = f'entry_point = "{entry}"\n' if entry else ""
        self.tables.append(
            f'[[pipeline]]\nname = "{name}"\nengine = "spark"\ncheckpoint = "{name}"\n'
            f"{more}{COMMANDS}"
        )
        source = Source(
            position=0, format="kafka", topics=(reads,), options={"startingOffsets": "earliest"}
        )
        sink = Sink(format="kafka", target=writes)
        version = Version(engine=Engine.SPARK, sources=(source,), sink=sink, stateful=stateful)
        self._later = (*getattr(self, "_later", ()), (name, version))

    def group(self, name, reads, offset=None):
        group = f"{name}-{reads}"
        self.tables.append(
            f'[[pipeline]]\nname = "{name}"\nengine = "consumer-group"\ngroup = "{group}"\n'
            f'topics = ["{reads}"]\n{COMMANDS}'
        )
        if offset is not None:
            self.groups.commit(group, {(reads, p): (offset, "") for p in (0, 1)})

    def plan(self, name="first", **options):
        self.team.register(*self.tables)
        with closing(self.team.store()) as store:
            for pipeline, version in self._later:
                store.versions.add(pipeline, version, fingerprint(version))
        return plan_scenario(self.team.context, "chain", name, options or {"to_earliest": True})


@pytest.fixture
def shop(team, topic, produce, groups):
    made = Shop(team, topic, produce, groups)
    made.query("first", made.orders, made.upper)
    for half in range(2):
        for name in (made.orders, made.upper):
            for part in (0, 1):
                produce(name, [f"v{half}-{n}" for n in range(2 + 2 * half)], partition=part)
        if not half:
            # After the second record: batch 0 ends before it, batch 1 after it. Records have
            # times of their own in milliseconds, and this one is apart from all of them.
            time.sleep(0.1)
            made.between = iso(from_milliseconds(int(time.time() * 1000)))
            time.sleep(0.1)
    return made


def said(plan, word):
    return [text for text in (*plan.blockers, *plan.risks, *plan.outputs.run) if word in text]


def choices(plan):
    return {row["pipeline"]: row["choice"] for row in plan.impact["chain"]}


def test_each_pipeline_has_its_choice_and_its_locks(shop):
    shop.query("counts", shop.upper, shop.topic("counts"), COUNTS)
    shop.group("billing", shop.upper, offset=3)
    plan = shop.plan()
    assert plan.can_apply, plan.blockers
    assert choices(plan) == {"first": "reset", "counts": "reset", "billing": "skip"}
    locks = changed(plan.resources)
    assert [r.partition(":")[0] for r in sorted(locks)] == ["checkpoint", "checkpoint", "group"]
    # All three have the same stop command here.
    assert set(plan.resources) - set(locks) == {"the shared stop command of:billing, counts, first"}
    assert plan.preconditions["pipelines"].keys() == {"first", "counts", "billing"}
    stops = [s.pipeline for s in plan.steps if s.action == "stop_pipeline"]
    starts = [s.pipeline for s in plan.steps if s.action == "start_pipeline"]
    assert stops == starts == ["first", "counts", "billing"]
    moved = next(s for s in plan.steps if s.action == "skip_replaced_records")
    assert (moved.since, moved.writers) == ({shop.upper: 0}, ("first",))


def test_no_downstream_pipeline_means_no_chain(shop):
    assert "Headgate knows no pipeline downstream of first" in shop.plan().blockers[0]


def test_another_writer_of_the_topic_blocks_what_would_skip_its_records(shop):
    shop.group("billing", shop.upper, offset=3)
    shop.query("other", shop.topic("refunds", partitions=2), shop.upper)
    plan = shop.plan()
    assert said(plan, f"billing: topic {shop.upper} also gets records from other")
    free = shop.plan(to_earliest=True, choose=["billing=nothing"])
    assert free.can_apply, free.blockers


def test_a_cycle_is_named(shop):
    shop.query("back", shop.upper, shop.orders)
    assert "these pipelines form a cycle: back, first. Each" in shop.plan().blockers[0]


def test_groups_that_nobody_registered_are_named(shop):
    shop.group("billing", shop.upper, offset=3)
    shop.groups.commit("stranger", {(shop.upper, 0): (1, "")})
    plan = shop.plan()
    assert said(plan, f"{shop.upper} is also read by stranger. These consumers")
    assert not said(plan, "stranger and"), "the group of the chain is among them"


def test_who_is_excluded_and_who_reads_only_from_it_is_named(shop):
    counts = shop.topic("counts", partitions=2)
    shop.query("counts", shop.upper, counts, COUNTS)
    shop.group("billing", counts, offset=0)
    plan = shop.plan(to_earliest=True, exclude=["counts"])
    assert choices(plan) == {"first": "reset", "counts": "nothing"}
    assert said(plan, "counts: nothing. The pipeline keeps running and gets dupl") and said(
        plan, "Its state counts these records twice."
    )
    assert said(
        plan,
        "billing: nothing. The pipeline keeps running and gets duplicates from counts, which also",
    )
    (blocker,) = shop.plan(to_earliest=True, exclude=["conts"]).blockers
    assert blocker == "conts isn't downstream of first. Downstream pipelines: counts, billing"


def test_without_a_batch_from_before_the_moment_nothing_is_correct(shop):
    """All that the query downstream has read was written after the first batch that is rewound."""
    shop.query("counts", shop.upper, shop.topic("counts"), COUNTS)
    plan = shop.plan(at=shop.between)
    assert choices(plan) == {"first": "rewind", "counts": "rewind"}
    assert plan.impact["chain"][0]["batch"] == 0
    assert said(plan, "counts: no batch or restore point ends before the replaced records")
    named = shop.plan(at=shop.between, choose=["counts=skip"])
    assert named.can_apply, named.blockers
    assert said(named, "rewritten records count twice")
    assert not named.impact["chain"][1]["is_exact"]


def test_a_first_batch_without_a_limit_is_named_of_each_query_that_reads_its_input_again(shop):
    shop.query("counts", shop.upper, shop.topic("counts"), COUNTS)
    size = "all records to process (now {})"
    (whole,) = said(shop.plan(), "maxOffsetsPerTrigger")
    assert whole.startswith("first: at least one source") and size.format(12) in whole
    back = shop.plan(at=shop.between, choose=["counts=skip"])
    (since,) = said(back, "maxOffsetsPerTrigger")
    assert since.startswith("first: at least one source") and size.format(8) in since


def test_a_moment_that_no_batch_reaches_and_one_of_the_future(shop):
    shop.group("billing", shop.upper, offset=3)
    plan = shop.plan(at="2999-01-01T00:00:00Z")
    assert plan.blockers == (
        "--at: 2999-01-01T00:00:00.000Z is in the future. Pass an earlier time",
    )
    early = shop.plan(at="2020-01-01T00:00:00Z")
    # Without state it may as well begin at the time itself.
    assert choices(early) == {"first": "reset", "billing": "skip"}
    assert said(early, "timestamp in the first pipeline's input, but Spark writes")
    asked = shop.plan(at="2020-01-01T00:00:00Z", choose=["first=rewind"])
    assert said(asked, "no batch or restore point ends before the first record at or after 2020")


def test_a_plan_is_read_back_and_built_again_the_same(shop):
    from headgate.reprocess.plan import dump_plan, load_plan

    shop.group("billing", shop.upper, offset=3)
    plan = shop.plan()
    back = load_plan(dump_plan(plan), source="test")
    assert back.hash == plan.hash == shop.plan().hash
    assert json.loads(dump_plan(back)) == json.loads(dump_plan(plan))


def test_what_the_worker_has_observed_since_changes_nothing(shop):
    """A checkpoint shows no sink: what was captured still tells where the query writes."""
    shop.group("billing", shop.upper, offset=3)
    plan = shop.plan()
    refresh_versions(shop.team.context)
    with closing(shop.team.store()) as store:
        assert store.versions.running("first").sink.format is None
    now = plan_scenario(shop.team.context, "chain", "first", {"to_earliest": True})
    assert (now.blockers, now.hash) == ((), plan.hash)
