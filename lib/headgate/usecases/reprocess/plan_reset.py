"""Plan a reset of a Kafka Streams application that needn't be registered."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from headgate.errors import HeadgateError, ScenarioError
from headgate.gateway.adapters.live import LiveInspector
from headgate.reprocess.impact import with_kept
from headgate.reprocess.plan import RESET, Plan
from headgate.reprocess.scenarios.application_reset import scenario as reset
from headgate.reprocess.scenarios.build import build_plan
from headgate.reprocess.scenarios.shared.kafka_streams_topology import topology_options
from headgate.store.sqlite_reader import SqliteReader, open_soonest
from headgate.usecases.compare.connect_evidence import with_judge
from headgate.usecases.context import Context
from headgate.usecases.reprocess.plan_scenario import with_rows
from headgate.usecases.reprocess.rebuild_plan import described, fresh_plan
from headgate.usecases.reprocess.reset_registry import DEFAULT, reset_registry

if TYPE_CHECKING:
    from headgate.store import Store

_SQLITE = "sqlite:///"


def plan_reset(
    context: Context, application: str, options: Mapping[str, Any], *, previewed: bool = True
) -> Plan:
    """Return the plan, also if it is blocked; nothing changes.

    If there is a store, it is read for stored topologies and other runs. ScenarioError,
    EvidenceError or NotFoundError name the wrong option; UnreachableError if Kafka doesn't respond.
    """
    if not application.strip():
        raise ScenarioError("--application-id: expected an id, found none")
    answers = _answers(context, application, options)
    registry = reset_registry(context.registry, application, answers)
    store = _store(context, needed=not previewed)
    with closing(with_judge(LiveInspector(registry, context.home), context)) as inspector:
        plan = _plan(store, inspector, application, answers)
    return with_kept(plan, context.registry.keep_snapshots)


def _plan(
    store: Store | SqliteReader | None,
    inspector: LiveInspector,
    application: str,
    answers: Mapping[str, Any],
) -> Plan:
    if store is None:
        version, unread = described(inspector, application)
        plan = build_plan(RESET, application, inspector, answers, version=version)
        return replace(plan, risks=(*plan.risks, *unread))
    with closing(store):
        return fresh_plan(store, inspector, RESET, application, answers)


def _answers(context: Context, application: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the options with everything in them that a plan must not depend on read."""
    answers = with_rows(reset.SCENARIO, options)
    # The worker may have another working directory, and a default must not change its meaning.
    for name in ("command-config",):
        if name in answers:
            answers[name] = str(Path(answers[name]).absolute())
    answers.setdefault("bootstrap-server", context.registry.bootstrap_servers or DEFAULT)
    if evidence := answers.get("topology"):
        from headgate.usecases.evidence.read_version import read_version

        version = read_version(list(evidence), context=context)
        answers |= topology_options(version, application)
    return answers


def _store(context: Context, *, needed: bool) -> Store | SqliteReader | None:
    """Open the store; for a preview one that is not there, or does not answer, is none."""
    url = context.store_url
    if needed:
        return open_soonest(url)
    if url.startswith(_SQLITE) and not Path(url.removeprefix(_SQLITE)).is_file():
        return None
    try:
        return open_soonest(url)
    except HeadgateError:
        return None
