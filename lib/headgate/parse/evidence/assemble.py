"""Make one version of the pieces that belong to it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from headgate.errors import EvidenceError, QueryChoiceError
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.progress import NewestProgress
from headgate.model.version import Evidence, Version
from headgate.parse.evidence.few_warnings import few
from headgate.parse.evidence.one_engine import (
    check_one_engine,
    completed_application,
    is_streams,
    is_weak,
)
from headgate.parse.evidence.recognise import Piece
from headgate.parse.spark.checkpoint.checkpoint import Checkpoint
from headgate.parse.spark.explain.printed_names import names_in, with_names
from headgate.parse.spark.explain.printed_plan import Plan
from headgate.parse.spark.plan_json.read import is_plan, read_json_plan
from headgate.parse.spark.query.choose_plans import Chosen, Printed, choose_plans, printed
from headgate.parse.spark.query.version import Pieces, build_version
from headgate.parse.spark.session.capture_json import Session, read_reports, read_session
from headgate.text.secrets import mask_record

if TYPE_CHECKING:
    from headgate.parse.spark.event_log.gather import Keep
    from headgate.parse.spark.event_log.read import EventLog
    from headgate.parse.spark.event_log.version import LoggedQuery, LoggedVersion
    from headgate.parse.spark.watch.read import Watched


@dataclass(slots=True)
class Gathered:
    """Pieces as they were found, in the order of the command line.

    `keep` selects the queries of which every progress report in an event log is kept.
    """

    pieces: list[Piece] = field(default_factory=list)
    checkpoints: list[tuple[str, Checkpoint]] = field(default_factory=list)
    versions: list[tuple[str, Version]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    name: str | None = None
    keep: Keep | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing was recognised."""
        return not (self.pieces or self.checkpoints or self.versions)


def assemble(found: Gathered, *, query: str | None = None) -> Version:
    """Return the version; EvidenceError where the pieces are of several queries or contradict.

    A version file is completed by the other pieces: what they say comes first. No text of the
    version holds a secret, whatever kind of evidence it came from.
    """
    versions = [*found.versions, *((p.path, p.value) for p in _of(found, EvidenceKind.VERSION))]
    made = _made(found, query)
    for path, version in versions:
        if not made:
            warnings = (*version.warnings, *found.warnings)
            made.append(replace(version, name=version.name or found.name, warnings=warnings))
        else:
            made[0] = completed(made[0], version, path)
    if not made:
        raise EvidenceError("no evidence was given: pass a path, an address or a pipeline's name")
    return mask_record(replace(made[0], warnings=few(made[0].warnings)))


def _made(found: Gathered, query: str | None) -> list[Version]:
    """Return the version of the pieces that are no version files, none where there are none."""
    check_one_engine(found.pieces, [path for path, _ in found.checkpoints])
    if any(map(is_streams, found.pieces)):
        # Imported here: a Spark query's evidence need not wait for it.
        from headgate.parse.evidence.assemble_kafka_streams import build_streams

        return [build_streams(found.pieces, name=found.name, warnings=found.warnings)]
    weak = [p for p in found.pieces if is_weak(p)]
    found.pieces = [p for p in found.pieces if p not in weak]
    found.warnings.extend(
        f"{p.path} was not read: it looks like a list of topics, which is evidence only of Kafka "
        "Streams applications"
        for p in weak
    )
    if weak and found.is_empty:
        raise EvidenceError(
            f"{weak[0].path} isn't enough evidence: add the output of Topology#describe()"
        )
    return [build_version(_spark_pieces(found, query))] if _says_something(found) else []


def logs_of(found: Gathered) -> list[EventLog]:
    """Return what reads like an event log: event logs, answers of a REST interface, watches."""
    return [
        p.value.log if p.kind is EvidenceKind.WATCH else p.value
        for p in found.pieces
        if p.kind.is_log
    ]


def _logged(found: Gathered) -> tuple[LoggedQuery, ...]:
    """Return every query of all logs; what reads logs is imported where there is one."""
    logs = logs_of(found)
    if not logs:
        return ()
    from headgate.parse.spark.event_log.version import queries

    return queries(logs)


def _newest_logged(logs: Sequence[LoggedQuery], meant: Collection[str]) -> LoggedVersion | None:
    if not logs:
        return None
    from headgate.parse.spark.event_log.version import logged_of

    return logged_of(logs, meant)


def _reported(
    watched: Sequence[Watched], meant: Collection[str], run_id: str | None
) -> Mapping[str, Any]:
    if not watched:
        return {}
    from headgate.parse.spark.watch.read import session_report

    return session_report(watched, meant, run_id)


def _of(found: Gathered, kind: EvidenceKind) -> list[Piece]:
    return [p for p in found.pieces if p.kind is kind]


def _says_something(found: Gathered) -> bool:
    rest = [p for p in found.pieces if p.kind not in (EvidenceKind.VERSION,)]
    return bool(rest or found.checkpoints)


def _spark_pieces(found: Gathered, query: str | None) -> Pieces:
    reports = read_reports([r for p in _of(found, EvidenceKind.PROGRESS) for r in p.value])
    settings: dict[str, str] = {}
    for piece in _of(found, EvidenceKind.SETTINGS):
        settings.update(piece.value)
    sessions: list[Session] = [p.value for p in _of(found, EvidenceKind.CAPTURE)]
    watched = [p.value for p in _of(found, EvidenceKind.WATCH)]
    logs = _logged(found)
    without = _without_queries(found)
    named = (*((q.id, q.name) for q in logs), *((r.query_id, r.name) for r in reports))
    chosen = _plans(found, query, frozenset(n for names in named for n in names if n))
    plans: list[Plan] = [*chosen.plans]
    reports, checkpoints, meant = _chosen(reports, found, query, logs)
    checkpoint = checkpoints[0][1] if checkpoints else None
    logged = _newest_logged(logs, meant)
    if logged is not None:
        plans.extend(logged.plans)
        settings = {**logged.settings, **settings}
        reports = _newest((*reports, *logged.reports))
    reported = _reported(watched, meant, logged.run.run_id if logged else None)
    if "logical" in reported and is_plan(reported["logical"]):
        plans.append(read_json_plan(reported["logical"]))
    if "capture" in reported:
        sessions.append(read_session(reported["capture"]))
    return Pieces(
        plans=tuple(plans),
        checkpoint=checkpoint,
        session=sessions[0] if sessions else None,
        reports=reports,
        settings=settings,
        evidence=_evidence(found),
        warnings=(
            *found.warnings,
            *(w for p in found.pieces for w in p.warnings),
            *_many(found, checkpoints),
            *_other_query(reports, checkpoint),
            *chosen.warnings,
            # The session reported the plan of a run that has had no batch: nothing is missing.
            *(logged.warnings if logged and (logged.plans or "logical" not in reported) else ()),
            *without,
        ),
        name=found.name or (logged.run.name if logged else chosen.identity.name),
        engine_version=logged.engine_version if logged else None,
        query_id=logged.run.query_id if logged else None,
        pinned=logged.pinned if logged else {},
        offset_log_version=logged.offset_log_version if logged else None,
        sink_log=next((p.value for p in _of(found, EvidenceKind.SINK_LOG)), None),
    )


def _plans(found: Gathered, query: str | None, named: frozenset[str]) -> Chosen:
    """Return the plans of one query; EvidenceError where they are of several.

    `named` are the names and ids of queries that logs and progress have.
    """
    prints = [s for p in _of(found, EvidenceKind.EXPLAIN) for s in printed(p.value, p.path)]
    prints += [s for p in _of(found, EvidenceKind.PLAN_JSON) for s in printed((p.value,), p.path)]
    prints = _named(prints)
    known = {c.query_id for _, c in found.checkpoints if c.query_id}
    return choose_plans(prints, query, named | known)


def _named(prints: Sequence[Printed]) -> list[Printed]:
    """Return the prints with the names of columns as a plan's JSON among them says them."""
    known = names_in(plan for one in prints for plan in one.plans)
    return [replace(one, plans=with_names(one.plans, known)) for one in prints]


def _without_queries(found: Gathered) -> list[str]:
    """Return a sentence for each log of only batch jobs; EvidenceError if nothing else is found."""
    logs = [p for p in _of(found, EvidenceKind.EVENT_LOG) if not p.value.runs]
    out = [f"{p.path} is the event log of an application without streaming queries" for p in logs]
    if logs and len(logs) == len(found.pieces) and not (found.checkpoints or found.versions):
        said = "; ".join((*out, *(w for p in logs for w in p.warnings))).rstrip(".")
        raise EvidenceError(f"{said}. Pass the event log of an application that runs the query")
    return out


def _newest(reports: Sequence[NewestProgress]) -> tuple[NewestProgress, ...]:
    """Return the newest report of each query."""
    known: dict[str, NewestProgress] = {}
    for report in reports:
        before = known.get(report.query_id)
        if before is None or (report.batch or 0) >= (before.batch or 0):
            known[report.query_id] = report
    return tuple(known.values())


def _many(found: Gathered, checkpoints: Sequence[tuple[str, Checkpoint]]) -> list[str]:
    out = []
    if len(checkpoints) > 1:
        kept, *rest = (path for path, _ in checkpoints)
        out.append(f"several checkpoints: Headgate uses {kept} and ignores {', '.join(rest)}")
    captures = _of(found, EvidenceKind.CAPTURE)
    if len(captures) > 1:
        out.append(f"several captures: Headgate uses only {captures[0].path}")
    return out


def _other_query(reports: Sequence[NewestProgress], checkpoint: Checkpoint | None) -> list[str]:
    wanted = checkpoint.query_id if checkpoint else None
    if wanted is None or not reports or wanted in {r.query_id for r in reports}:
        return []
    return [
        (
            f"the query progress is from query {reports[0].query_id}, but the checkpoint is from "
            f"query {wanted}: check that both belong to the same pipeline"
        )
    ]


def _evidence(found: Gathered) -> tuple[Evidence, ...]:
    return (
        *(Evidence(kind=p.kind.value, path=p.path) for p in found.pieces),
        *(Evidence(kind="checkpoint", path=path) for path, _ in found.checkpoints),
        *(Evidence(kind="version", path=path) for path, _ in found.versions),
    )


def _chosen(
    reports: Sequence[NewestProgress],
    found: Gathered,
    query: str | None,
    logs: Sequence[LoggedQuery] = (),
) -> tuple[tuple[NewestProgress, ...], Sequence[tuple[str, Checkpoint]], Collection[str]]:
    """Return reports, checkpoints, ids of the one query that is meant; several need `--query`.

    Several checkpoints are several queries. With one checkpoint, reports of other queries are
    ignored.
    """
    known = {c.query_id: c.query_id for _, c in found.checkpoints if c.query_id}
    titles = {r.query_id: r.name or r.query_id for r in reports}
    titles |= {q.id: q.name or q.id for q in logs}
    if query is not None or len(known) != 1 or not known.keys() & titles.keys():
        known |= titles
    names = [" ".join(n.split()) for n in known.values()]
    if query is not None:
        meant = {i for i, name in known.items() if query in (i, name)}
        if known and not meant:
            raise QueryChoiceError(f"the evidence has no query {query!r}, only", names)
        meant = _newest_of(meant, reports, logs)
    elif len(known) > 1 and (len(reports) > 1 or len(found.checkpoints) > 1 or logs):
        raise QueryChoiceError(
            f"the evidence has {len(known)} queries: choose one with --query", names
        )
    else:
        meant = set(known)
    checkpoints = [(p, c) for p, c in found.checkpoints if c.query_id in (None, *meant)]
    return tuple(r for r in reports if r.query_id in meant), checkpoints, meant


def _newest_of(
    meant: set[str], reports: Sequence[NewestProgress], logs: Sequence[LoggedQuery]
) -> set[str]:
    """Return the query seen last of several with one name: a fresh checkpoint gives another id."""
    if len(meant) < 2:
        return meant
    seen = {r.query_id: r.at or "" for r in sorted(reports, key=lambda r: r.at or "")}
    for query in logs:
        times = (t for r in query.runs for t in (r.run.started_at, r.run.seen_at) if t)
        seen[query.id] = max((seen.get(query.id, ""), *times))
    return {max(meant, key=lambda i: seen.get(i, ""))}


def completed(version: Version, other: Version, path: str) -> Version:
    """Fill what `version` does not say with what `other`, read from `path`, says."""
    if version.engine is not other.engine:
        raise EvidenceError(
            f"{path} is from {other.engine.value}, but the other evidence is from "
            f"{version.engine.value}. Pass evidence of only one engine"
        )
    changes: dict[str, Any] = {
        f.name: getattr(other, f.name)
        for f in fields(Version)
        if f.name not in _OWN and getattr(version, f.name) in _NOTHING
    }
    if len(version.topology.nodes) < len(other.topology.nodes):
        changes["topology"] = other.topology
    changes["streams"] = completed_application(version.streams, other.streams)
    warnings = dict.fromkeys((*version.warnings, *other.warnings))
    return replace(version, **changes, warnings=tuple(warnings))


_OWN = frozenset(("engine", "topology", "warnings", "evidence", "streams"))
_NOTHING: tuple[Any, ...] = (None, (), {})
