"""A pipeline gets a schedule: it is there once, nothing else is touched, and an undo removes it.

The schedule is due once in four years: what its ticks do is tested where they are due, with a
worker that is killed (`integration/consumer_group/test_group_schedules.py`).
"""

from __future__ import annotations

from contextlib import closing

from headgate.gateway.checkpoint.folders import tree_hash
from headgate.model.schedules import StoredSchedule
from headgate.store import open_store
from headgate.usecases.context import open_context
from scenes.bounded import BoundedSpark
from scenes.kafka_streams.streams_scene import StreamsScene
from scenes.scene import GroupScene, Scene

_CRON = "0 0 29 2 *"


class _Scheduled(Scene):
    """What the engines share: the plan's arguments, and how the store is after run and undo."""

    scenario = "incremental"

    @property
    def arguments(self) -> tuple[str, ...]:
        """A rare time, with a limit."""
        return (f"--cron={_CRON}", "--max-run-records=1000")

    def _schedules(self) -> tuple[StoredSchedule, ...]:
        with closing(open_store(open_context(str(self.config)).store_url)) as store:
            return store.schedules.all()

    def check_end(self) -> None:
        """There is one schedule, the planned one, of a run that there is."""
        self.check_neighbour()
        (found,) = self._schedules()
        assert (found.pipeline, found.schedule.cron) == (self.pipeline, _CRON)
        assert found.schedule.limit_records == 1000
        assert found.created_by and found.run
        self.check_untouched()

    def check_undone(self) -> None:
        """There is none."""
        self.check_neighbour()
        assert self._schedules() == ()
        self.check_untouched()

    def check_untouched(self) -> None:
        """Assert that the pipeline is as it was."""
        raise NotImplementedError


class IncrementalGroup(_Scheduled, GroupScene):
    """A group at work: it reads on."""

    name = "incremental-group"

    def check_untouched(self) -> None:
        """Its first process still lives, and reads every record."""
        self.check_reading(since=0)
        assert len(self.lives()) == 1, "it was restarted"


class IncrementalStreams(_Scheduled, StreamsScene):
    """An application at work: it counts on."""

    name = "incremental-streams"

    def check_untouched(self) -> None:
        """It counts what there is, nothing twice."""
        self.check_counted()
        self.check_one_life()


class IncrementalSpark(_Scheduled, BoundedSpark):
    """A stopped query with its checkpoint."""

    name = "incremental-spark"

    @property
    def arguments(self) -> tuple[str, ...]:
        """With a limit of its batches, too."""
        return (*super().arguments, "--max-records=60")

    def check_untouched(self) -> None:
        """Nothing has run: the checkpoint is byte for byte that of before."""
        assert tree_hash(self.checkpoint) == self.before, "the checkpoint is not what it was"
        assert not (self.folder / "started").exists(), "it was started"
