"""A report as SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import hashlib
from typing import Any

from headgate import __version__
from headgate.views.reports.document import (
    Document,
    Item,
    Level,
    SourceLocation,
    first_sentence,
    rule_link,
)

_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS = {
    Level.FAILS: "error",
    Level.WRONG: "error",
    Level.WARNING: "warning",
    Level.NOTE: "note",
    Level.GOOD: "note",
}


def sarif_data(
    document: Document, *, location: SourceLocation | None = None, rules_url: str | None = None
) -> dict[str, Any]:
    """Return one run. A finding is at its nodes (logical locations) and at `location`, if given.

    `rules_url` is the folder of the rules' pages.
    """
    placed = [(item, location) for item in document.items]
    placed += [(item, part.location) for part in document.parts for item in part.items]
    first = {item.rule: item for item, _ in reversed(placed)}
    codes = list(dict.fromkeys(item.rule for item, _ in placed))
    rules = [_rule(first[code], rules_url) for code in codes]
    run: dict[str, Any] = {
        "tool": {"driver": {"name": "Headgate", "version": __version__, "rules": rules}},
        "columnKind": "utf16CodeUnits",
        "invocations": [_invocation(document)],
        "results": [_result(item, codes.index(item.rule), at) for item, at in placed],
        "properties": dict(document.properties),
    }
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(item: Item, rules_url: str | None) -> dict[str, Any]:
    source = dict(item.facts).get("Source")
    markdown = f"{item.reason}\n\n_Source: {source}_" if source else item.reason
    rule: dict[str, Any] = {
        "id": item.rule,
        "shortDescription": {"text": first_sentence(item.reason)},
        "fullDescription": {"text": item.reason},
        "help": {"text": item.reason, "markdown": markdown},
        "defaultConfiguration": {"level": _LEVELS[item.level]},
    }
    if link := rule_link(item.rule, rules_url):
        rule["helpUri"] = link
    return rule


def _invocation(document: Document) -> dict[str, Any]:
    warnings = (*document.warnings, *(f"{p.name}: {w}" for p in document.parts for w in p.warnings))
    said = [{"level": "warning", "message": {"text": w}} for w in warnings]
    return {"executionSuccessful": True, "toolExecutionNotifications": said}


def _result(item: Item, index: int, location: SourceLocation | None) -> dict[str, Any]:
    # The fingerprint is of what stays the same while a finding does, whatever its texts become.
    digest = hashlib.sha256(item.identity.encode()).hexdigest()[:32]
    result: dict[str, Any] = {
        "ruleId": item.rule,
        "ruleIndex": index,
        "level": _LEVELS[item.level],
        "message": {"text": "\n".join(item.lines())},
        "partialFingerprints": {"headgateFinding/v1": digest},
        "properties": dict(item.properties),
    }
    if found := _location(item, location):
        result["locations"] = [found]
    if item.accepted is not None:
        held = {"kind": "external", "status": "accepted", "justification": item.accepted.reason}
        result["suppressions"] = [held]
    return result


def _location(item: Item, location: SourceLocation | None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if location is not None:
        found["physicalLocation"] = {
            "artifactLocation": {"uri": location.path},
            "region": {"startLine": location.line},
        }
    if item.nodes:
        found["logicalLocations"] = [
            {"name": label, "fullyQualifiedName": node, "kind": "operator"}
            for node, label in dict(item.nodes).items()
        ]
    return found
