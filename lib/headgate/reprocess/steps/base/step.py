"""The shape of a step, and the words that steps share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Protocol, TypeAlias

from headgate.errors import RefusedError, StalePlanError
from headgate.model.cluster import Group, Partition, Topic
from headgate.model.registered_pipelines import Commands
from headgate.reprocess.ports.inspector import Applier, Inspector
from headgate.reprocess.ports.kafka import TopicShape
from headgate.text.numbers import name_list, plural

PriorState: TypeAlias = dict[str, Any]
OUTPUT_FOLDER = "output folder"
"""The word for the folder of a file sink that is moved to backup as a whole."""


class Step(Protocol):
    """One action that can be checked, applied, verified and undone; a frozen value.

    After a step that `forgets`, an application counts from zero.

    The executor calls `check`, then `bind`, journals what `bind` returned (`was`), then `apply` and
    `verify`. After a crash it calls `is_applied` with the journalled `was`: the cluster state is
    checked before anything is repeated, and `apply` does only what is still missing. So `check` and
    `apply` must accept an effect that is there already; `again` says so.
    """

    action: ClassVar[str]
    symbol: ClassVar[str]
    forgets: ClassVar[bool]

    @property
    def undoable(self) -> bool:
        """Whether `undo` brings back what was."""

    @property
    def stops(self) -> bool:
        """Whether it stops its pipeline by a command."""

    @property
    def takes_output_back(self) -> bool:
        """Whether, in an undo, it moves the output that was written since the run to backup."""

    @property
    def reenables(self) -> bool:
        """Whether it re-enables a pipeline's restarts."""

    @property
    def creates(self) -> tuple[TopicShape, ...]:
        """The topics that it creates if they don't exist."""

    def describe(self) -> str:
        """Return one line for the preview, the command line and the journal alike."""

    def details(self) -> dict[str, Any]:
        """Return everything the step holds, as JSON values; `load_step` reads it back."""

    def intent(self) -> dict[str, Any]:
        """Return what is approved: `details` without what moves by itself on a live pipeline."""

    def check(self, inspector: Inspector, *, again: bool = False) -> None:
        """Raise RefusedError where the step must not be done now."""

    def bind(self, applier: Applier) -> PriorState:
        """Read the values that the effect replaces and decide names; no effect of its own."""

    def is_applied(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the effect is already there, for a step that was started before."""

    def reached(self, applier: Applier, was: PriorState) -> bool:
        """Return whether the effect is there although `apply` or `verify` just failed."""

    def apply(self, applier: Applier, was: PriorState) -> None:
        """Do what is missing of the effect."""

    def verify(self, applier: Applier, was: PriorState) -> None:
        """Raise StepError if the cluster state isn't as the step leaves it."""

    def undo(self, was: PriorState) -> tuple[Step, ...]:
        """Return the steps that restore the prior state; none if nothing needs to be restored."""

    def remains(self, inspector: Inspector, was: PriorState) -> tuple[str, ...] | None:
        """Return what blocks the undo of its run, once a step that can't be undone was started.

        Empty if it did nothing yet, None if all facts that it reports are permanent.
        """

    def facts(self, inspector: Inspector) -> dict[str, Any]:
        """Return what must still hold when an undo that has this step begins."""

    def blockers(self, inspector: Inspector, *, stops: bool = False) -> tuple[str, ...]:
        """Return why an undo that has this step can't begin now; `stops`: it stops the pipeline."""

    def risks(self, inspector: Inspector) -> tuple[str, ...]:
        """Return what an undo that has this step doesn't bring back, or loses."""

    def rebind(self, commands: Commands) -> Step:
        """Return the step with the commands that are registered now.

        For steps that a person repeats by an undo or a resume: often the command was the fault.
        """

    def preview(self, inspector: Inspector) -> Step:
        """Return the step as an undo's plan shows it, with what it replaces as it is now."""

    def lag(self) -> int:
        """Return how many records the offsets that it restores are after those of now."""

    def stop_first(self, commands: Commands) -> tuple[Step, ...] | None:
        """Return what an undo that has no stop before this step begins with.

        None where a pipeline that runs is none of its concern, and a later step decides.
        """

    def reenable_last(self, commands: Commands) -> tuple[Step, ...]:
        """Return what re-enables the restarts that it suspends, for an undo's end."""


def pipeline_of(step: Step, default: str | None) -> str | None:
    """Return the pipeline that a step is about; `default` is the plan's, for one that names none.

    A plan may have steps of several pipelines.
    """
    return getattr(step, "pipeline", None) or default


def check_command(inspector: Inspector, pipeline: str, word: str, planned: str | None) -> None:
    """Refuse where the registered command is not the one that was shown in the plan."""
    registered = inspector.processes.registered(pipeline)
    if registered is None:
        raise StalePlanError(_unregistered(pipeline))
    now = getattr(registered.commands, word)
    if now != planned:
        raise StalePlanError(
            f"the {word} command of {pipeline} has changed since the plan was made. Run `headgate "
            "plan` again"
        )


def _unregistered(pipeline: str) -> str:
    return (
        f"{pipeline} is no longer registered in headgate.toml. Register the pipeline, then run "
        "`headgate plan` again"
    )


def check_entry_point(inspector: Inspector, pipeline: str, planned: str) -> None:
    """Refuse where the registered function is not the one that was shown in the plan."""
    registered = inspector.processes.registered(pipeline)
    if registered is None:
        raise StalePlanError(_unregistered(pipeline))
    if registered.entry_point != planned:
        raise StalePlanError(
            f"the entry point of {pipeline} has changed since the plan was made. Run `headgate "
            "plan` again"
        )


def topic_facts(topics: Mapping[str, Topic]) -> dict[str, dict[str, Any]]:
    """Return what must stay of topics: `id` and number of `partitions`."""
    return {n: {"id": t.id, "partitions": len(t.partitions)} for n, t in sorted(topics.items())}


def check_topics(inspector: Inspector, planned: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse if a topic is gone, was recreated, or has other partitions than planned."""
    _refuse_other_topics(inspector.kafka.identities(planned), planned)


def check_same_topics(inspector: Inspector, planned: Mapping[str, Mapping[str, Any]]) -> None:
    """Refuse if a topic is gone or was recreated; it may have more partitions than planned."""
    now = inspector.kafka.identities(planned)
    counts = {name: {**facts, "partitions": now[name][1]} for name, facts in planned.items()
              if name in now}  # fmt: skip
    _refuse_other_topics(now, {**planned, **counts})


def check_found_topics(
    found: Mapping[str, Topic], planned: Mapping[str, Mapping[str, Any]]
) -> None:
    """Refuse as `check_topics` does, of topics that were just read."""
    now = {name: (topic.id, len(topic.partitions)) for name, topic in found.items()}
    _refuse_other_topics(now, planned)


def _refuse_other_topics(
    now: Mapping[str, tuple[str | None, int]], planned: Mapping[str, Mapping[str, Any]]
) -> None:
    for name, facts in sorted(planned.items()):
        if name not in now:
            raise RefusedError(f"topic {name} no longer exists. Run `headgate plan` again")
        topic_id, partitions = now[name]
        if topic_id != facts["id"]:
            raise StalePlanError(
                f"topic {name} was deleted and recreated since the plan was made. Run `headgate "
                "plan` again"
            )
        if partitions != facts["partitions"]:
            raise StalePlanError(
                f"topic {name} now has {plural(partitions, 'partition')}, but the plan was made "
                f"with {facts['partitions']}. Run `headgate plan` again"
            )


def known_log(topic: str, part: Partition) -> tuple[int, int]:
    """Return where a partition's log begins and ends; RefusedError if that is unknown.

    A step that took such a partition for an empty one would lose what it holds.
    """
    if part.begin is None or part.end is None:
        raise RefusedError(
            f"the earliest and latest offset of {topic}[{part.number}] are unknown. Check that the "
            "partition has a leader, then try again"
        )
    return part.begin, part.end


def check_inactive(inspector: Inspector, group_id: str, planned_type: str) -> None:
    """Refuse unless it is verified that the group has no members and is of the planned type."""
    check_found_inactive(inspector, inspector.kafka.group(group_id), planned_type)


def check_found_inactive(inspector: Inspector, group: Group, planned_type: str) -> None:
    """Refuse as `check_inactive` does, of a group that was just read."""
    if group.state != "dead" and group.type.value != planned_type:
        raise StalePlanError(
            f"group {group.id} now has type {group.type}, but the plan was made for type "
            f"{planned_type}. Run `headgate plan` again"
        )
    if not group.is_inactive:
        raise RefusedError(active_reason(inspector, group.id))
    if group.pending:
        raise RefusedError(pending_reason(group))


def pending_reason(group: Group) -> str:
    """Say that a transaction is at the group's offsets: its producer counts as alive."""
    return (
        f"group {group.id} has committed offsets on {name_list(group.pending)} in an open "
        "transaction: a process of the group still runs, or was just killed. Stop the process, or "
        "wait until the broker ends the transaction (transaction.timeout.ms)"
    )


def active_reason(inspector: Inspector, group_id: str) -> str:
    """Say why a group isn't verified to be without members."""
    group = inspector.kafka.group(group_id)
    if group.members:
        names = name_list({m.client_id or m.id for m in group.members})
        return (
            f"group {group_id} still has {plural(len(group.members), 'member')} ({names}). Stop "
            "all members first"
        )
    if group.state == "dead":
        return (
            f"group {group_id} doesn't exist, or Headgate can't see its type. So Headgate can't "
            "verify that the group has no members. Check the group id, and Headgate's ACLs on it"
        )
    what = "no state" if group.state == "unknown" else f"the state {group.state}"
    return (
        f"Headgate can't verify that group {group_id} has no members: the brokers report {what}, "
        "and no members. Stop the group's consumers, then try again. If they are "
        "stopped, check Headgate's ACLs on the group (operation Describe)"
    )
