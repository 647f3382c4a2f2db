"""The words that every writing of a comparison shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from headgate.rules.core.report import Finding, Labels, Outcome, Rollback, Upgrade, UpgradeWay

GLYPHS = {
    Outcome.REFUSES: "!",
    Outcome.SILENTLY_WRONG: "≠",
    Outcome.UNKNOWN: "?",
    Outcome.NO_EFFECT: "·",
    Outcome.RESUMES: "✓",
}
ROLLBACKS = {
    Rollback.SAFE: "the old version can be started again",
    Rollback.REPAIRABLE: "the old version starts again after the remedy",
    Rollback.LOST: "the old version can never be started on this checkpoint again",
    Rollback.UNKNOWN: "unknown",
}


def value_text(value: Any) -> str:
    """Return a finding's value as one line."""
    if value is None:
        return "-"
    if isinstance(value, (list, tuple)):
        return ", ".join(map(value_text, value)) or "nothing"
    return str(value)


def place_text(finding: Finding, labels: Labels) -> str | None:
    """Return where a finding is, in both graphs; None where it is about the whole."""
    before, after = finding.location.before, finding.location.after
    if before is None and after is None:
        return None
    if before is None:
        return f"{_named(after or '', labels.after)}, only in the new version"
    if after is None:
        return f"{_named(before, labels.before)}, only in the old version"
    old, new = _named(before, labels.before), _named(after, labels.after)
    return old if old == new else f"{old} -> {new}"


def _named(node: str, labels: Mapping[str, str]) -> str:
    """Return a node as people call it, with its id where that says more."""
    label = labels.get(node)
    return f"{label} ({node})" if label and label != node else node


def accepted_text(finding: Finding) -> str | None:
    """Return who lives with a finding, and for how long; None where nobody accepted it."""
    if finding.accepted is None:
        return None
    until = f" until {finding.accepted.until}" if finding.accepted.until else ""
    return f"Accepted{until}: {finding.accepted.reason}"


def facts(finding: Finding, labels: Labels = Labels()) -> Iterator[tuple[str, str]]:  # noqa: B008
    """Yield everything that is known of a finding beside its reason and its values, by name."""
    place = place_text(finding, labels)
    told = (
        ("Where", place),
        ("Question", finding.question),
        ("Error", finding.error_class),
        ("Remedy", finding.remedy),
        ("Scenario", finding.scenario and f"headgate plan {finding.scenario}"),
        ("Roll-back", ROLLBACKS[finding.rollback] if matters(finding) else None),
        ("Source", finding.source),
    )
    yield from ((name, text) for name, text in told if text)


def matters(finding: Finding) -> bool:
    """Say whether a way back is worth a word: something goes wrong, or going back needs a step."""
    wrong = finding.outcome > Outcome.NO_EFFECT
    return wrong or finding.rollback in (Rollback.REPAIRABLE, Rollback.LOST)


def lines_of(finding: Finding, labels: Labels = Labels()) -> list[str]:  # noqa: B008
    """Return a finding as lines for people, without its heading."""
    out = [finding.why]
    if finding.before is not None or finding.after is not None:
        out += [f"- {value_text(finding.before)}", f"+ {value_text(finding.after)}"]
    out += [f"{name}: {text}" for name, text in facts(finding, labels)]
    if accepted := accepted_text(finding):
        out.append(accepted)
    return out


HEADLINES = {
    UpgradeWay.ROLLING: "A rolling bounce will do",
    UpgradeWay.OFFLINE: "Upgrade offline: stop all instances first",
    UpgradeWay.RESET: "No upgrade keeps this state: take the change back, or reset",
    UpgradeWay.UNKNOWN: "The way depends on an open question",
}


def upgrade_json(upgrade: Upgrade | None) -> dict[str, Any] | None:
    """Return `way` (rolling, offline, reset, unknown), the steps in order, and why."""
    if upgrade is None:
        return None
    return {"way": upgrade.way.value, "steps": list(upgrade.steps), "why": upgrade.why}


def upgrade_lines(upgrade: Upgrade | None) -> tuple[str, ...]:
    """Return the steps, numbered; none where the engine has but one way."""
    if upgrade is None:
        return ()
    return tuple(f"{i}. {step}" for i, step in enumerate(upgrade.steps, start=1))


def rule_link(code: str, base: str | None = None) -> str | None:
    """Return the address of a rule's page, None where nobody can open one.

    `base` is the folder of all pages (`[docs] rules_url` in headgate.toml). A path of the machine
    that made a report would mean nothing to its reader, so that there is no link without one.
    """
    return f"{base.rstrip('/')}/{code}.md" if base else None
