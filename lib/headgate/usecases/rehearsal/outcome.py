"""Derive the outcome of a Kafka Streams rehearsal from the start and from what it wrote."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from headgate.gateway.kafka_broker.rehearsal_broker import live_keys
from headgate.gateway.kafka_streams.state_directory import StateDirectory
from headgate.gateway.process.connections import can_watch
from headgate.model.kafka_streams_rehearsal import CopiedTopic, StoreFate, StoreRows, StreamsVerdict
from headgate.model.rehearsal import EngineOutcome, EngineVerdict, OutputDifference
from headgate.rules.compare.engine_agreement import compare_rows
from headgate.usecases.rehearsal.fill_broker import Stage
from headgate.usecases.rehearsal.one_version import COLUMNS, Played, Side, counted

_ROWS = 20
NOT_COMPARED = "one version failed or did not finish, so the outputs can't be compared"
_ALWAYS = (
    "other instances, standby tasks and rebalances",
    "calls from the code to other systems",
)


def verdict(side: Side, played: Played, stage: Stage, directory: StateDirectory) -> StreamsVerdict:
    """Return the new version's result, without the old version and the checks of originals."""
    ran = played.ran
    thrown, _, message = ran.causes[0].partition(": ") if ran.causes else ("", "", "")
    has_class = bool(thrown) and " " not in thrown
    return StreamsVerdict(
        outcome=ran.outcome,
        error_class=thrown if has_class else None,
        message=(message if has_class else thrown) or None,
        causes=ran.causes,
        stage=ran.stage,
        rows_in=played.rows_in,
        rows_out=len(played.outputs) if played.rows_in is not None else None,
        stores=tuple(_stores(played, stage, directory)),
        copied=tuple(
            CopiedTopic(topic=t.name, partitions=t.partitions, records=len(t.records), role=t.role)
            for t in stage.topics
        ),
        rows=tuple(played.rows()[:_ROWS]),
        streams_version=played.streams_version,
        application_id=side.application_id,
        form="topology" if side.is_topology else "main",
        not_exercised=tuple(_not_exercised(side, played, stage)),
        not_ensured=tuple(_not_ensured()),
        question=ran.question,
    )


def compared(new: Played, old: Played) -> OutputDifference:
    """Compare the outputs of both versions for the same records and copies of the same state."""
    told = EngineVerdict(outcome=old.ran.outcome, error_class=_class(old))
    if {old.ran.outcome, new.ran.outcome} != {EngineOutcome.RESUMES}:
        return OutputDifference(
            old=told.outcome, old_error_class=told.error_class, note=NOT_COMPARED
        )
    return compare_rows(old.rows(), new.rows(), (COLUMNS, COLUMNS), old=told)


def torn(found: StreamsVerdict) -> StreamsVerdict:
    """Return a failed start as UNKNOWN, because the directory changed during the copy."""
    if found.outcome is not EngineOutcome.REFUSES:
        return found
    return replace(
        found,
        outcome=EngineOutcome.UNKNOWN,
        question=(
            "Does the new version also fail on a complete copy of the state directory? The "
            "directory was in use or changed during the copy. Stop the application, and start the "
            "rehearsal again"
        ),
    )


def _class(played: Played) -> str | None:
    return played.ran.causes[0].partition(":")[0] if played.ran.causes else None


def _stores(played: Played, stage: Stage, directory: StateDirectory) -> Iterator[StoreRows]:
    """Yield every store that either version has, by name."""
    app = played.version.streams if played.version else None
    if app is None:
        return
    changelogs = {_store(t.name, directory): t for t in stage.topics if t.role == "changelog"}
    after = {_store(name, directory): records for name, records in played.after.items()}
    new = {s.name for s in app.stores}
    for name in sorted(new | changelogs.keys() | directory.stores.keys()):
        if name not in new | changelogs.keys() and directory.stores.get(name) == ("global",):
            # A global table's store is made anew from its topic, which is still there.
            continue
        was = changelogs.get(name)
        is_old = was is not None or name in directory.stores
        count, sample = counted(after[name]) if name in after else (None, ())
        if is_old and stage.seen is None:
            # Its changelog here has only what was written here.
            count = None
        yield StoreRows(
            store=name,
            fate=StoreFate.LOST if name not in new else _fate(is_old),
            before=len(live_keys(was.records)) if was is not None and stage.seen else None,
            after=count if name in new else None,
            folders=len(directory.stores.get(name, ())),
            sample=sample if name in new else (),
        )


def _fate(is_old: bool) -> StoreFate:
    return StoreFate.KEPT if is_old else StoreFate.EMPTY


def _store(changelog: str, directory: StateDirectory) -> str:
    return changelog.removeprefix(f"{directory.application_id}-").removesuffix("-changelog")


def _not_exercised(side: Side, played: Played, stage: Stage) -> Iterator[str]:
    if stage.seen is None:
        yield "changelogs, committed offsets and partitions, because the cluster was not contacted"
    elif stage.seen.group.members:
        yield "a start after a clean stop, because the group has members: the application still ran"
    if not stage.uses_directory:
        yield (
            "the state directory, because its offsets don't fit the copied changelogs. Stores were "
            "restored from the changelogs"
        )
    if played.rows_in == 0 and played.ran.outcome is EngineOutcome.RESUMES:
        yield "processing of records, because the inputs had no records"
    if side.is_topology:
        yield "caches, several stream threads, and the code around the topology"
    yield from _ALWAYS


def _not_ensured() -> Iterator[str]:
    yield (
        "isolation from other systems, because the code can still connect to IP addresses. Host "
        "names are not resolved"
    )
    if not can_watch():
        yield "absence of other connections, because Headgate can monitor connections only on Linux"
