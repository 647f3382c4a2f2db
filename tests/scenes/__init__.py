"""One scene per scenario and engine: a pipeline at work, what is asked for, how it must end.

A scene is a pipeline on real topics (late, duplicate and disordered records, and a producer that
goes on writing), registered in a `headgate.toml` of its own folder, together with the arguments of
`headgate plan`. `make faults` runs each scene under every fault, `make test` a sample of it.

To add one: write a module here with a class derived from `Scene` (or from `GroupScene` or
`QueryScene`, whose `prepare` makes a running pipeline) and put it in SCENES. It says

- `name`, `scenario`, `engine` (and `markers`, where it needs more than Kafka);
- `prepare()`: makes topics, records and the folder, writes the registry, starts the pipeline;
- `arguments`: what stands behind `headgate plan SCENARIO PIPELINE`;
- `check_end()`: asserts how things are after the run, record by record where data is processed;
- `check_undone()`: asserts that they are as before, after `headgate undo`;
- `no_rollback`: what the undo of a whole run is refused with, where there is none;
- `close()`: ends everything that `prepare` started.

`prepare` is called once, `check_end` and `check_undone` perhaps several times, whatever crashes
came between: they wait for what is still on its way, and say in one sentence what is wrong. A scene
must not depend on how often a command ran; it must notice when an effect came twice. `stand_in.py`
is a pipeline that writes down each record it reads and each position it commits, one line each, so
that both are seen; `generations.py` reads that. `neighbour()` of the base class makes what no run
may touch.
"""

from __future__ import annotations

from scenes.bounded import BoundedGroup, BoundedSpark, BoundedStreams
from scenes.chain import ChainSpark
from scenes.consumer_group.decommission import DecommissionGroup
from scenes.consumer_group.from_point import FromPointGroup
from scenes.consumer_group.from_scratch import FromScratchGroup
from scenes.consumer_group.offline_upgrade import OfflineUpgradeGroup
from scenes.consumer_group.online_upgrade import OnlineUpgradeGroup
from scenes.consumer_group.repair import RepairGroup
from scenes.consumer_group.skip_records import SkipRecordsGroup
from scenes.dead_letters import DeadLettersGroup, DeadLettersSpark
from scenes.incremental import IncrementalGroup, IncrementalSpark, IncrementalStreams
from scenes.kafka_streams.from_scratch import FromScratchStreams
from scenes.kafka_streams.more import (
    DecommissionStreams,
    FromPointStreams,
    OfflineUpgradeStreams,
    PauseStreams,
    SkipRecordsStreams,
)
from scenes.kafka_streams.online_upgrade import OnlineUpgradeStreams
from scenes.kafka_streams.repartition import RepartitionStreams
from scenes.pause import PauseGroup, PauseSpark
from scenes.scene import Scene
from scenes.spark.decommission import DecommissionSpark
from scenes.spark.from_point import FromPointSpark
from scenes.spark.from_scratch import FromScratchSpark
from scenes.spark.historical_range import (
    AbSpark,
    HistoricalRangeSpark,
    HistoricalRangeTable,
    HistoricalRangeTopic,
)
from scenes.spark.late_batch import LateBatchSpark, LateBatchTable
from scenes.spark.more_ranges import (
    HistoricalRangeAppend,
    HistoricalRangeFailing,
    HistoricalRangeStream,
)
from scenes.spark.new_checkpoint import NewCheckpointSpark
from scenes.spark.offline_upgrade import OfflineUpgradeSpark
from scenes.spark.online_upgrade import OnlineUpgradeSpark
from scenes.spark.repair import RepairSpark
from scenes.spark.repartition import RepartitionSpark
from scenes.spark.rewind import RewindSpark
from scenes.spark.rewind_point import RewindPointSpark
from scenes.spark.skip_records import SkipRecordsSpark

SCENES: tuple[type[Scene], ...] = (
    RewindSpark,
    FromPointGroup,
    FromPointSpark,
    FromPointStreams,
    NewCheckpointSpark,
    FromScratchGroup,
    FromScratchSpark,
    FromScratchStreams,
    OfflineUpgradeGroup,
    OfflineUpgradeSpark,
    OfflineUpgradeStreams,
    PauseGroup,
    PauseSpark,
    PauseStreams,
    RepairGroup,
    RepairSpark,
    RepartitionSpark,
    RepartitionStreams,
    DecommissionGroup,
    DecommissionSpark,
    DecommissionStreams,
    SkipRecordsGroup,
    SkipRecordsSpark,
    SkipRecordsStreams,
    BoundedGroup,
    BoundedSpark,
    BoundedStreams,
    RewindPointSpark,
    DeadLettersGroup,
    DeadLettersSpark,
    HistoricalRangeSpark,
    HistoricalRangeTopic,
    AbSpark,
    OnlineUpgradeSpark,
    IncrementalGroup,
    IncrementalSpark,
    IncrementalStreams,
    ChainSpark,
    LateBatchSpark,
    HistoricalRangeTable,
    OnlineUpgradeGroup,
    OnlineUpgradeStreams,
    HistoricalRangeStream,
    HistoricalRangeAppend,
    HistoricalRangeFailing,
    LateBatchTable,
)

__all__ = ["SCENES", "Scene", "scene"]


def scene(name: str) -> type[Scene]:
    """Return the scene of that name; KeyError where there is none."""
    return {s.name: s for s in SCENES}[name]
