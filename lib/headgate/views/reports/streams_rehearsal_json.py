"""A rehearsal of Kafka Streams as JSON: the shape of `diff`, and the engine's own verdict."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

from headgate.model.kafka_streams_rehearsal import ClusterProof, StreamsVerdict
from headgate.rules.compare.engine_agreement import Judged
from headgate.rules.core.report import Report
from headgate.views.reports.comparison_json import report_json
from headgate.views.reports.rehearsal_json import checkpoint_json, output_json


def streams_rehearsal_json(
    report: Report, engine: StreamsVerdict, judged: Judged
) -> dict[str, Any]:
    """Return the object that `rehearse --format json` prints; every value is plain."""
    agreement = {"agreement": judged.agreement.value, "why": judged.why}
    return report_json(report) | {"engine": engine_json(engine), **agreement}


def engine_json(engine: StreamsVerdict) -> dict[str, Any]:
    """Return the engine's verdict, the contract's fields first."""
    return {
        "outcome": engine.outcome.value,
        "error_class": engine.error_class,
        "message": engine.message,
        "rows_in": engine.rows_in,
        "rows_out": engine.rows_out,
        "causes": list(engine.causes),
        "stage": engine.stage.value if engine.stage else None,
        "question": engine.question,
        "streams_version": engine.streams_version,
        "application_id": engine.application_id,
        "form": engine.form,
        "not_exercised": list(engine.not_exercised),
        "not_ensured": list(engine.not_ensured),
        "state": [
            asdict(s)
            | {"fate": s.fate.value}
            | {"sample": [{"key": key, "value": value} for key, value in s.sample]}
            for s in engine.stores
        ],
        "topics": [asdict(t) for t in engine.copied],
        "rows": [json.loads(row) for row in engine.rows],
        "output": output_json(engine.output),
        "directory": checkpoint_json(engine.directory),
        "cluster": _cluster(engine.cluster),
    }


def _cluster(found: ClusterProof | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return asdict(found) | {"unchanged": found.is_unchanged, "changed": list(found.changed)}
