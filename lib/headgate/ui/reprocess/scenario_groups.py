"""The scenarios in the order and the groups in which somebody looks for one."""

from __future__ import annotations

from collections.abc import Mapping

from headgate.reprocess.scenario import Scenario

GROUPS = (
    ("Read it again", ("from-scratch", "from-point", "from-old-state", "carry-over")),
    ("Put another version in place", ("offline-upgrade", "online-upgrade", "rescale", "ab")),
    ("Stop, mend, go on", ("pause", "resume", "repair", "skip", "dead-letters")),
    (
        "Process some data",
        ("historical-range", "bounded", "incremental", "late-batch", "chain"),
    ),
    ("Clean up", ("retire",)),
)
OTHERS = "More"


def grouped(scenarios: Mapping[str, Scenario]) -> list[tuple[str, list[Scenario]]]:
    """Return the groups that have a scenario; those that are in no group come last."""
    placed = {name for _, names in GROUPS for name in names}
    rest = tuple(name for name in scenarios if name not in placed)
    found = [
        (title, [scenarios[n] for n in names if n in scenarios])
        for title, names in (*GROUPS, (OTHERS, rest))
    ]
    return [(title, members) for title, members in found if members]
