"""Releases that get no fixes any more, or that have known problems."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from headgate.model.version import Engine
from headgate.rules.readiness.facts.report import Problem, Severity
from headgate.rules.readiness.facts.rule import rule
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
    "Rehearse the newer release on a copy of the checkpoint (`headgate rehearse`). Before the "
    "upgrade, copy the checkpoint for a rollback: the old release may fail on files of the new "
    "release. Your vendor may support the old release for longer."
)


@rule(
    "RDY060",
    "Spark documentation: versioning policy (18 months of fixes)",
    Engine.SPARK,
    severities=(Severity.MEDIUM, Severity.LOW),
    remedies=(_COPY_THE_CHECKPOINT,),
)
def spark_release_without_fixes(s: Subject) -> Iterator[Problem]:
    """The Spark project no longer fixes this release, or will soon stop.

    The next upgrade then becomes urgent and spans several releases. Spark doesn't guarantee that an
    older release resumes from the checkpoint of a newer one.
    """
    found = _NUMBER.match(s.version.engine_version or "")
    ends = SPARK_ENDS.get((int(found[1]), int(found[2]))) if found else None
    if ends is None or ends > s.now.date() + SOON:
        return
    over = ends < s.now.date()
    yield Problem(
        severity=Severity.MEDIUM if over else Severity.LOW,
        what=f"Bug fixes for Spark {s.version.engine_version} "
        f"{'ended' if over else 'end'} on {ends.isoformat()}.",
        remedy=_COPY_THE_CHECKPOINT,
        keeps_state=True,
    )


_TAKE_THE_NEXT = "Upgrade to the next bug-fix release with a rolling restart."


@rule(
    "RDY061",
    "Kafka documentation: Streams upgrade guide",
    Engine.KAFKA_STREAMS,
    severities=(Severity.MEDIUM,),
    remedies=(_TAKE_THE_NEXT,),
)
def release_leaks_memory(s: Subject) -> Iterator[Problem]:
    """This release of Kafka Streams leaks memory.

    The process runs out of memory again and again, and its state must be restored each time.
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
