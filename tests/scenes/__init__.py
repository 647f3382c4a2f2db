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

from scenes.decommission_group import DecommissionGroup
from scenes.decommission_spark import DecommissionSpark
from scenes.from_point_group import FromPointGroup
from scenes.from_point_spark import FromPointSpark
from scenes.from_scratch_group import FromScratchGroup
from scenes.from_scratch_spark import FromScratchSpark
from scenes.from_scratch_streams import FromScratchStreams
from scenes.more_streams import (
    DecommissionStreams,
    FromPointStreams,
    OfflineUpgradeStreams,
    PauseStreams,
    SkipRecordsStreams,
)
from scenes.new_checkpoint_spark import NewCheckpointSpark
from scenes.offline_upgrade_group import OfflineUpgradeGroup
from scenes.offline_upgrade_spark import OfflineUpgradeSpark
from scenes.pause import PauseGroup, PauseSpark
from scenes.repair_group import RepairGroup
from scenes.repair_spark import RepairSpark
from scenes.repartition_spark import RepartitionSpark
from scenes.repartition_streams import RepartitionStreams
from scenes.rewind_spark import RewindSpark
from scenes.scene import Scene
from scenes.skip_records_group import SkipRecordsGroup
from scenes.skip_records_spark import SkipRecordsSpark

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
)

__all__ = ["SCENES", "Scene", "scene"]


def scene(name: str) -> type[Scene]:
    """Return the scene of that name; KeyError where there is none."""
    return {s.name: s for s in SCENES}[name]
