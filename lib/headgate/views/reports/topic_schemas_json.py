"""Schemas and their comparison as JSON."""

from __future__ import annotations

from typing import Any

from headgate.model.topic_schema import SchemaField, SchemaFinding
from headgate.rules.topic_schemas.facts.field_reads import FieldRead, TopicUse
from headgate.rules.topic_schemas.facts.report import SchemaCheck, ShownTopic


def check_json(check: SchemaCheck) -> dict[str, Any]:
    """Return the object that `schemas check` and `schemas diff` print; every value is plain."""
    report = check.report
    return {
        "schema": 1,
        "topic": check.topic,
        "subject": check.subject,
        "mode": report.mode.value,
        "compared": list(report.compared),
        "effect": report.effect.word,
        "registry_accepts": report.second_opinion,
        "findings": [finding_json(f) for f in report.findings],
        "changes": [
            {"kind": c.kind.value, "path": c.path, "before": c.before, "after": c.after}
            for c in report.changes
        ],
        "readers": [
            {
                "path": r.path,
                "pipelines": [read_json(read) for read in r.reads],
                "behind": [{"pipeline": b.pipeline, "topic": b.topic} for b in r.behind],
            }
            for r in check.readers
        ],
        "warnings": list(report.warnings),
    }


def finding_json(finding: SchemaFinding) -> dict[str, Any]:
    """Return one finding with every field."""
    accepted = finding.accepted
    return {
        "rule": finding.rule,
        "effect": finding.effect.word,
        "direction": finding.direction.value if finding.direction else None,
        "path": finding.path,
        "pipeline": finding.pipeline,
        "before": finding.before,
        "after": finding.after,
        "against": finding.against or None,
        "why": finding.why,
        "question": finding.question,
        "remedy": finding.remedy,
        "accepted": {"reason": accepted.reason, "until": accepted.until} if accepted else None,
        "source": finding.source,
    }


def read_json(read: FieldRead) -> dict[str, Any]:
    """Return what one pipeline does with one field."""
    return {
        "pipeline": read.pipeline,
        "reads": read.certainty.value,
        "why": read.sentence,
        "where": list(read.location),
        "question": read.question or None,
    }


def shown_json(shown: ShownTopic) -> dict[str, Any]:
    """Return the object that `schemas show` prints."""
    found = shown.schemas
    return {
        "schema": 1,
        "topic": found.topic,
        "column": found.column,
        "subject": found.subject,
        "format": shown.newest.format.value,
        "compatibility": found.mode.value if found.mode else None,
        "versions": [v.version for v in found.versions if v.version is not None],
        "declared": found.declared,
        "fields": [field_json(f) for f in shown.newest.fields],
        "readers": [_use(u) for u in shown.uses],
        "warnings": list(found.warnings),
    }


def field_json(field: SchemaField) -> dict[str, Any]:
    """Return one field; `default` is JSON text, null where there is none."""
    return {
        "path": field.path,
        "type": field.type,
        "optional": field.optional,
        "default": field.default if field.has_default else None,
        "number": field.number,
    }


def _use(use: TopicUse) -> dict[str, Any]:
    return {
        "pipeline": use.pipeline,
        "reads": sorted(use.read),
        "hands_on": list(use.whole),
        "unknown": use.blind or None,
    }
