"""Values of settings that a configuration refuses."""

from __future__ import annotations

import re
from collections.abc import Iterator

from headgate.rules.core.report import Location, Outcome, StateEffect
from headgate.rules.core.rule import RuleResult
from headgate.rules.kafka_streams.facts.rule import (
    CONFIG_EXCEPTION,
    StreamsComparison,
    streams_rule,
)

GUARANTEES = ("at_least_once", "exactly_once_v2")
_VALUES: dict[str, tuple[tuple[str, ...], bool]] = {
    "processing.guarantee": (GUARANTEES, False),
    "group.protocol": (("classic", "streams"), True),
    "dsl.store.format": (("default", "headers"), True),
    "default.dsl.store": (("rocksDB", "in_memory"), False),
    "upgrade.from": (("a release from 2.4 on, as major.minor (for example 3.9)",), False),
}
"""The values that StreamsConfig 4.3.1 accepts, and whether it ignores their case."""
_RELEASE = re.compile(r"(2\.[4-8]|[3-9]\.\d+|null)")


_SET_TO_ONE = "Set {key} to an accepted value: {values}."


@streams_rule("KST073", outcomes=(Outcome.REFUSES,), remedies=(_SET_TO_ONE,))
def setting_value_not_accepted(c: StreamsComparison) -> Iterator[RuleResult]:
    """StreamsConfig accepts only some values of this setting.

    With any other value, the application fails before it starts. Since Kafka Streams 4.0,
    processing.guarantee doesn't accept exactly_once and exactly_once_beta, and upgrade.from doesn't
    accept releases before 2.4.
    """
    for key, (values, folds) in _VALUES.items():
        old, new = c.setting(key)
        if new is None or new == old or _is_known(key, new, values, folds):
            continue
        yield RuleResult(
            outcome=Outcome.REFUSES,
            state_effect=StateEffect.NONE,
            location=Location(),
            before=old,
            after=new,
            because=f"{key} is {new}, which StreamsConfig doesn't accept.",
            error_class=CONFIG_EXCEPTION,
            remedy=_SET_TO_ONE.format(key=key, values=", ".join(values)),
        )


def _is_known(key: str, value: str, values: tuple[str, ...], folds: bool) -> bool:
    if key == "upgrade.from":
        return _RELEASE.fullmatch(value) is not None
    return (value.lower() if folds else value) in values
