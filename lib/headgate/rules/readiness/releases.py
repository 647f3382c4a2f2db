"""Releases that nobody mends any more, or that are known to hurt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from headgate.model.version import Engine
from headgate.rules.readiness.facts.report import Severity
from headgate.rules.readiness.facts.rule import Problem, rule
from headgate.rules.readiness.facts.subject import Subject

# Last day of bug fixes by feature release: 18 months after its first release, more for the last of
# a major one (https://spark.apache.org/versioning-policy.html, the project's release pages).
SPARK_ENDS = {
    (2, 4): date(2021, 5, 9),
    (3, 0): date(2021, 12, 6),
    (3, 1): date(2022, 8, 22),
    (3, 2): date(2023, 4, 9),
    (3, 3): date(2023, 12, 9),
    (3, 4): date(2024, 10, 21),
    (3, 5): date(2026, 4, 12),
    (4, 0): date(2026, 11, 23),
    (4, 1): date(2027, 6, 11),
}
SOON = timedelta(days=90)
_NUMBER = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")
_LEAKING = {(4, 1, 0): "KAFKA-19748, fixed in 4.1.1", (4, 3, 0): "KAFKA-20616, fixed in 4.3.1"}


_COPY_THE_CHECKPOINT = (
    "Copy the checkpoint, try the newer release on the copy (`headgate rehearse`), and keep the "
    "copy: the old release can't read the new release's files. A vendor may support this release "
    "for longer."
)


@rule(
    "RDY060",
    "documentation: Spark versioning policy (18 months of fixes)",
    Engine.SPARK,
    remedies=(_COPY_THE_CHECKPOINT,),
)
def spark_ends(s: Subject) -> Iterator[Problem]:
    """A release without fixes makes the next upgrade an emergency, and one over several releases.

    A checkpoint only moves to newer releases, never to older ones.
    """
    found = _NUMBER.match(s.version.engine_version or "")
    ends = SPARK_ENDS.get((int(found[1]), int(found[2]))) if found else None
    if ends is None or ends > s.now.date() + SOON:
        return
    over = ends < s.now.date()
    yield Problem(
        severity=Severity.MEDIUM if over else Severity.LOW,
        what=f"Spark {s.version.engine_version} gets {'no more' if over else 'no'} fixes from the "
        f"project {'since' if over else 'after'} {ends.isoformat()}.",
        remedy=_COPY_THE_CHECKPOINT,
        keeps_state=True,
    )


_TAKE_THE_NEXT = "Upgrade to the next bug-fix release in a rolling restart."


@rule(
    "RDY061",
    "documentation: Kafka Streams upgrade guide",
    Engine.KAFKA_STREAMS,
    remedies=(_TAKE_THE_NEXT,),
)
def leaking_release(s: Subject) -> Iterator[Problem]:
    """This release of Kafka Streams leaks memory.

    After a while the application is killed, and each time its state must be restored.
    """
    found = _NUMBER.match(s.version.engine_version or "")
    number = (int(found[1]), int(found[2]), int(found[3] or 0)) if found else (0, 0, 0)
    if known := _LEAKING.get(number):
        yield Problem(
            severity=Severity.MEDIUM,
            what=f"Kafka Streams {s.version.engine_version} leaks memory ({known}).",
            remedy=_TAKE_THE_NEXT,
            keeps_state=True,
        )
