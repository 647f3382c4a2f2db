"""The way of an upgrade, as it is written in every form of a comparison."""

from __future__ import annotations

from typing import Any

from headgate.rules.core.report import Upgrade, UpgradeWay

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
