"""The cases: what is asked for, what the plan says of it, and what the reader must then count."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import Consumer, TopicPartition

from trial.kinds import Billing, Distinct, Joined, Kind, Sessions, Windows, settings_of
from trial.load import Record
from trial.reader import Counts


def _nothing(kind: Kind) -> None:
    """Leave all as it is."""


@dataclass(frozen=True)
class Case:
    """One scenario on one kind of pipeline.

    `says` are parts of the plan's text, each with its numbers. `run` and `undone` are what the
    reader counts after the run and after the undo, each once the pipeline has caught up. A case
    with `blocked` isn't run: a blocker holds this text. `more` is False if nothing comes between.
    """

    kind: type[Kind]
    scenario: str
    options: tuple[str, ...] = ()
    says: tuple[str, ...] = ()
    run: Counts = Counts(0, 0)
    undone: Counts = Counts(0, 0)
    blocked: str = ""
    prepare: Callable[[Kind], None] = _nothing
    deploy: Callable[[Kind], None] = _nothing
    roll_back: Callable[[Kind], None] = _nothing
    waits: bool = True
    what: str = ""

    @property
    def name(self) -> str:
        """Return the name of the case, unique among all."""
        return "-".join(filter(None, (self.kind.name, self.scenario, self.what)))


def _poisoned(kind: Kind) -> None:
    """Let one record end the program: it is the next of partition 0."""
    kind.send([Record("poison", "u1", 299.5, 0)])


def _beyond(kind: Kind) -> None:
    """Commit an offset beyond the end of each partition, while 20 records wait."""
    kind.site.run("stop")
    kind.send(Record(f"q{n}", "u1", 299.5, n % 2) for n in range(20))
    group, topic = kind.site.settings["group"], kind.site.settings["input"]
    consumer = Consumer({"bootstrap.servers": kind.site.broker, "group.id": group})
    parts = [TopicPartition(topic, n, 5000) for n in range(2)]
    consumer.commit(offsets=parts, asynchronous=False)
    consumer.close()


def _to_new(kind: Kind) -> None:
    settings_of(kind, output=str(kind.site.folder / "new"))


def _to_old(kind: Kind) -> None:
    settings_of(kind, output=str(kind.site.folder / "out"))


NEW = ("--new-output", "--output-path", "new")
CASES = (
    # What came between run and undo (60 records) is done again by a group that was moved.
    Case(
        Billing,
        "from-point",
        ("--shift-by=-40",),
        (
            r"Records reprocessed: up to 80 records",
            r"resumes at the old offsets, and processes the records after them a second time",
        ),
        Counts(0, 80),
        Counts(0, 140),
    ),
    Case(
        Billing,
        "from-scratch",
        (),
        (r"Records reprocessed: up to 300 records",),
        Counts(0, 300),
        Counts(0, 360),
    ),
    Case(Billing, "pause", (), (r"writes nothing while it is paused",), waits=False),
    Case(
        Billing,
        "skip-records",
        ("--records", "{input}:0:150"),
        (r"never reads 150 to 150|never reads.*1 record|Skip.*1 record",),
        Counts(1, 0),
        Counts(61, 0),
        prepare=_poisoned,
        waits=False,
    ),
    Case(
        Billing,
        "repair",
        ("--beyond", "end"),
        (r"skips up to 320 records", r"last position in .* is unknown"),
        Counts(20, 0),
        Counts(0, 360),
        prepare=_beyond,
        what="beyond-end",
    ),
    # 100 clicks are in 10 open sessions; the 100 that come later fall into the same sessions. The
    # registered watch has the output mode, so the plan knows that this is a loss.
    Case(
        Sessions,
        "new-checkpoint",
        (),
        (
            r"Loss: .*10 open sessions .*never emitted",
            r"esults since then are written a second time",
        ),
        Counts(100, 0),
        Counts(0, 100),
    ),
    Case(
        Sessions,
        "from-point",
        ("--shift-by=-100",),
        (r"Records reprocessed: up to 100 records", r"Loss: .*10 open sessions"),
        Counts(0, 0),
        Counts(0, 200),
    ),
    Case(
        Sessions,
        "from-scratch",
        (),
        (r"Records reprocessed: up to 300 records",),
        Counts(0, 200),
        Counts(0, 400),
    ),
    # 100 finished orders are written; of 40 buffered ones 20 get payments that now match nothing.
    Case(Joined, "new-checkpoint", (), blocked="new-output", what="old-output"),
    Case(
        Joined,
        "new-checkpoint",
        NEW,
        (r"Loss: .*4[01] .*buffered rows", r"esults since then are written a second time"),
        Counts(60, 0),
        Counts(0, 0),
        deploy=_to_new,
        roll_back=_to_old,
        what="new-output",
    ),
    # 200 known keys are forgotten: 40 duplicates pass again, the undo writes 60 new ids again.
    Case(
        Distinct,
        "new-checkpoint",
        (),
        (
            r"Loss: .*200 known keys",
            r"The next duplicate of each key is emitted",
            r"esults since then are written a second time",
        ),
        Counts(0, 40),
        Counts(0, 100),
    ),
    # Half of the 240 lie in the second minute, whose counts begin again at the undo.
    Case(
        Windows,
        "from-scratch",
        (),
        (
            r"Records reprocessed: up to 240 records",
            r"state isn't restored.*overwrite correct results",
        ),
        Counts(0, 0),
        Counts(120, 0),
    ),
)
SAMPLE = ("billing-from-point", "sessions-new-checkpoint")
