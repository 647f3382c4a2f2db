"""A query whose checkpoint is on a remote file system, and a run that leads it to a new place.

The file system is a folder behind pyarrow's own interface; tests/gateway/remote has real servers.
"""

from __future__ import annotations

from dataclasses import replace

import pytest

from headgate.errors import RefusedError
from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.execution.execute import Executor
from headgate.reprocess.scenarios.build import build_plan
from headgate.worker.run_journal import RunJournal
from support.crashing import COMMANDS, CrashingApplier, Lab

START = (
    "[ -e running ] && echo >> twice; touch running;"
    ' d="$PWD/store/${HEADGATE_CHECKPOINT#s3a://}"; mkdir -p "$d/offsets" "$d/commits";'
    ' [ -e "$d/metadata" ] || echo \'{"id":"new"}\' > "$d/metadata";'
    ' echo v1 > "$d/offsets/9"; echo "$HEADGATE_CHECKPOINT" >> started'
)


class RemoteLab(Lab):
    """A lab whose query has its checkpoint at `s3a://BUCKET/ck`; its registry is led."""

    declared: str

    @property
    def now(self):
        """Where the query's checkpoint is now."""
        return self.led().pipeline("q").checkpoint

    @property
    def new(self):
        return f"{self.declared}.2"

    def folder_of(self, location):
        return self.folder / "store" / location.removeprefix("s3a://")

    @property
    def old_hash(self):
        return tree_hash(self.folder_of(self.declared))

    def led(self):
        return self.registry.led(self.store.checkpoint_locations.all())

    def started(self):
        file = self.folder / "started"
        return file.read_text().split() if file.exists() else []

    def forget_start(self):
        """Take back what the old query writes when it is started again."""
        (self.folder_of(self.declared) / "offsets/9").unlink(missing_ok=True)

    def applier(self, run="preview"):
        self.notes = []

        def switch_checkpoint(pipeline, declared, location):
            self.store.checkpoint_locations.switch_checkpoint(
                pipeline, declared=declared, location=location, run=run
            )

        return CrashingApplier(
            RunContext(
                registry=self.led(),
                home=self.home,
                run=run,
                note=self.notes.append,
                switch_checkpoint=switch_checkpoint,
            )
        )

    def run(self, plan, undo_of=None):
        run = self.enqueue(plan, undo_of)
        self.execute(run, plan, undo_of)
        return run

    def refused(self, plan):
        """Execute as a worker does: what a refusal finds is rolled back."""
        run = self.enqueue(plan)
        with pytest.raises(RefusedError) as raised:
            self.execute(run, plan)
        journal = RunJournal(self.store, run, plan, undo_of=None)
        Executor(self.applier(run), journal).roll_back(plan.steps)
        return str(raised.value)


def fill(checkpoint):
    """Write a query without state that has read a file in each of two batches."""
    for name in ("offsets", "commits", "sources/0"):
        (checkpoint / name).mkdir(parents=True)
    (checkpoint / "metadata").write_text('{"id":"old"}')
    for batch in range(3):
        head = f'v1\n{{"batchTimestampMs":{batch}}}\n{{"logOffset":{batch}}}'
        (checkpoint / "offsets" / str(batch)).write_text(head)
        (checkpoint / "commits" / str(batch)).write_text("v1\n{}")
        taken = f'{{"path":"s3a://in/{batch}","timestamp":1,"batchId":{batch}}}'
        (checkpoint / "sources/0" / str(batch)).write_text(f"v1\n{taken}")


def remote_lab(folder, number, store, start=START):
    """Return the lab of that number, with a bucket of its own."""
    place, bucket = folder / str(number), f"b{number}"
    fill(place / "store" / bucket / "ck")
    (place / "running").touch()
    (place / "bucket").write_text(bucket)
    pipeline = Pipeline(
        name="q",
        engine=Engine.SPARK,
        checkpoint=f"s3a://{bucket}/ck",
        commands=replace(COMMANDS, start=start),
    )
    registry = Registry(path=str(place / "headgate.toml"), pipelines=(pipeline,))
    lab = RemoteLab(place, registry, store)
    lab.declared = pipeline.checkpoint
    return lab


def scratch_of(lab):
    plan = build_plan("from-scratch", "q", lab.applier())
    assert plan.can_apply, plan.blockers
    return plan


def rewind_of(lab):
    plan = build_plan("rewind", "q", lab.applier(), {"batch": 1, "sink": "kafka"})
    assert plan.can_apply, plan.blockers
    return plan
