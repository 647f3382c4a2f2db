"""What a scenario needs, and whether a pipeline has it: nothing is asked of Kafka or an engine."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Version
from headgate.reprocess.checkpoint.source_offsets import QueryPosition, SourceKind
from headgate.reprocess.ports.checkpoints import Checkpoint


class State(StrEnum):
    """Whether a condition is met; what only the plan can find out is UNKNOWN."""

    MET = "met"
    MISSING = "missing"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What is known of a pipeline without building a plan.

    `version` is the newest stored one. `checkpoint` and `position` are None if there is none, or
    if they weren't read: then `unread` is the reason, one sentence. `remote` says that the
    checkpoint is on a remote file system, whose files aren't read for this.
    """

    pipeline: Pipeline
    version: Version | None = None
    checkpoint: Checkpoint | None = None
    position: QueryPosition | None = None
    remote: bool = False
    unread: str | None = None


@dataclass(frozen=True, slots=True)
class Answered:
    """A condition of one pipeline: its state and one sentence with what decides it."""

    state: State
    said: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """`need` completes "needs ..."; `ask` returns None if the pipeline has no use for it."""

    need: str
    ask: Callable[[Facts], Answered | None]


def met(said: str) -> Answered:
    """Return the answer for a condition that holds."""
    return Answered(State.MET, said)


def missing(said: str) -> Answered:
    """Return the answer for a condition that doesn't hold."""
    return Answered(State.MISSING, said)


def unknown(said: str) -> Answered:
    """Return the answer for a condition that only the plan can decide."""
    return Answered(State.UNKNOWN, said)


def _without_checkpoint(facts: Facts) -> Answered | None:
    """Return why nothing can be said of the checkpoint, None if it was read."""
    location = facts.pipeline.checkpoint
    if location is None:
        return missing("headgate.toml sets no `checkpoint` for this pipeline.")
    if facts.checkpoint is not None:
        return None
    return (
        unknown(facts.unread) if facts.unread else missing(f"No checkpoint found in `{location}`.")
    )


def _checkpoint(facts: Facts) -> Answered:
    if facts.pipeline.checkpoint and facts.remote:
        return unknown("The checkpoint is remote, so only the plan checks whether it exists.")
    return _without_checkpoint(facts) or met("The checkpoint exists.")


def _passes_location(facts: Facts) -> Answered | None:
    if not facts.remote:
        return None
    # The module of remote checkpoints brings the steps, which a list of scenarios does without.
    from headgate.reprocess.remote_checkpoint import VARIABLE, start_flaw

    issue = start_flaw(facts.pipeline)
    if issue is None:
        return met(f"The start command passes `${{{VARIABLE}}}`.")
    return missing(
        f"Remote checkpoint: the start command must pass `${{{VARIABLE}}}`, but {issue}."
    )


def _local(facts: Facts) -> Answered:
    if facts.remote:
        return missing(f"Needs a local checkpoint: `{facts.pipeline.checkpoint}` is remote.")
    return _without_checkpoint(facts) or met("The checkpoint is a folder on this machine.")


def _sources(*kinds: SourceKind) -> Callable[[Facts], Answered]:
    words = " or ".join({SourceKind.KAFKA: "Kafka", SourceKind.FILES: "files"}[k] for k in kinds)

    def ask(facts: Facts) -> Answered:
        if facts.position is None:
            return unknown(facts.unread or "No checkpoint found, so the sources are unknown.")
        if facts.position.batch is None:
            return unknown("No batch has completed, so the sources are unknown.")
        others = [f"source {s.name}" for s in facts.position.sources if s.kind not in kinds]
        if others:
            return missing(f"The query has sources other than {words}: {', '.join(others)}.")
        return met(f"All sources are {words}.")

    return ask


def _batch_done(facts: Facts) -> Answered:
    if facts.checkpoint is None:
        if facts.unread:
            return unknown(facts.unread)
        return missing("No checkpoint found, so no batch has completed.")
    done = facts.checkpoint.last_commit_batch
    return missing("No batch has completed.") if done is None else met(f"Batch {done} completed.")


def commands(*words: str, rest: str = "") -> Callable[[Facts], Answered]:
    """Return what asks whether all these commands are registered; `rest` ends what is said."""

    def ask(facts: Facts) -> Answered:
        lacking = [w for w in words if getattr(facts.pipeline.commands, w) is None]
        if lacking:
            names = ", ".join(f"`{w}`" for w in lacking)
            return missing(
                f"headgate.toml has no {names} under [pipeline.commands] of this pipeline.{rest}"
            )
        names = ", ".join(f"`{w}`" for w in words)
        return met(f"Registered commands: {names}.")

    return ask


def any_command(*words: str) -> Callable[[Facts], Answered]:
    """Return what asks whether one of these commands is registered."""

    def ask(facts: Facts) -> Answered:
        found = next((w for w in words if getattr(facts.pipeline.commands, w) is not None), None)
        names = " or ".join(f"`{w}`" for w in words)
        if found is None:
            return missing(
                f"headgate.toml has no {names} under [pipeline.commands] of this pipeline."
            )
        return met(f"Registered command: `{found}`.")

    return ask


def _if_asked(*words: str) -> Callable[[Facts], Answered]:
    every = commands(*words)

    def ask(facts: Facts) -> Answered:
        found = every(facts)
        if found.state is State.MET:
            return found
        lacking = sum(getattr(facts.pipeline.commands, w) is None for w in words)
        needed = "this command is" if lacking == 1 else "these commands are"
        return unknown(f"{found.said} Only the plan shows whether {needed} needed.")

    return ask


def no_entry_point(pipeline: Pipeline) -> str:
    """Say that the registry has no function to call."""
    return f"headgate.toml sets no `entry_point` for {pipeline.name}: add it as MODULE:FUNCTION"


def _entry_point(facts: Facts) -> Answered:
    given = facts.pipeline.entry_point
    if given is None:
        return missing("headgate.toml sets no `entry_point` for this pipeline.")
    return met(f"Entry point: `{given}`.")


ENTRY_POINT = Condition(need="an `entry_point` (MODULE:FUNCTION)", ask=_entry_point)
CHECKPOINT = Condition(need="a checkpoint", ask=_checkpoint)
PASSES_LOCATION = Condition(
    need=(
        "a start command that passes ${HEADGATE_CHECKPOINT} as checkpointLocation, if the "
        "checkpoint is remote (object store, HDFS)"
    ),
    ask=_passes_location,
)
LOCAL = Condition(
    need="a checkpoint that is a folder on this machine, local or mounted", ask=_local
)
COPIES_STATE = Condition(
    need=(
        "if the checkpoint is remote (object store, HDFS): a start command that passes "
        "${HEADGATE_CHECKPOINT} as checkpointLocation, and disk space on this machine for a copy "
        "of the state"
    ),
    ask=_passes_location,
)
KAFKA_OR_FILES = Condition(
    need="Kafka or file sources, and no other sources",
    ask=_sources(SourceKind.KAFKA, SourceKind.FILES),
)
ALL_KAFKA = Condition(need="Kafka sources, and no other sources", ask=_sources(SourceKind.KAFKA))
BATCH_DONE = Condition(need="at least one completed batch", ask=_batch_done)
CUT_COMMANDS = Condition(
    need=(
        "`stop`, `start` and `status` commands, if the failing batch has other records before "
        "the records to skip"
    ),
    ask=_if_asked("stop", "start", "status"),
)
