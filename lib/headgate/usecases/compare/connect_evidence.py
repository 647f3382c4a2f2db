"""Let an inspector compare versions; the rules are imported at the first comparison."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from headgate.gateway.adapters.live import LiveInspector
from headgate.model.version import Sink, Version
from headgate.reprocess.ports.evidence import Output, RunningVersion, Trace, UpgradeVerdict
from headgate.usecases.context import Context

AnyInspector = TypeVar("AnyInspector", bound=LiveInspector)


def with_judge(inspector: AnyInspector, context: Context) -> AnyInspector:
    """Return the inspector, which can now compare versions."""

    def judge(
        pipeline: str, after: str, before: str | None, fail_on: Sequence[str]
    ) -> UpgradeVerdict:
        # All rules and parsers stand behind it, and most plans have nothing to compare.
        from headgate.usecases.compare.judge_upgrade import judge_upgrade

        return judge_upgrade(context, pipeline, after, before, fail_on)

    def look(pipeline: str, after: str, version: str, trace: Trace) -> RunningVersion:
        from headgate.usecases.compare.judge_running import judge_running

        return judge_running(context, pipeline, after, version, trace)

    def locate(pipeline: str, query_id: str | None) -> tuple[Output, ...]:
        from headgate.usecases.compare.known_outputs import known_outputs

        return known_outputs(context, pipeline, query_id)

    def read(pipeline: str) -> Version | None:
        from headgate.usecases.evidence.read_evidence import read_evidence

        return read_evidence(context, pipeline)

    def issues(topic: str, new: str | Sink, old: Sink | None) -> tuple[str, ...] | None:
        from headgate.usecases.compare.schema_issues import schema_issues

        return schema_issues(context, topic, new, old)

    evidence = inspector.evidence
    evidence.judge, evidence.look, evidence.locate, evidence.read = judge, look, locate, read
    evidence.issues = issues
    return inspector
