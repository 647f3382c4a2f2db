"""What a redrive costs: how many records go where, and why they had failed."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from headgate.model.dead_letters import Decision
from headgate.reprocess.scenarios.dead_letters.redrive import Redrive


def impact_of(found: Redrive) -> dict[str, Any]:
    """Return the impact: records by target, and what is known of the dead letters."""
    summary, records = found.summary, found.scaled
    total = sum(records.values())
    no_target = summary.count(Decision.REDRIVE) - sum(found.counts.values())
    decided = {d.value: summary.count(d) for d in Decision}
    decided[Decision.REDRIVE.value] -= no_target
    decided[Decision.NO_TARGET.value] += no_target
    return {
        "records": records,
        "total": total,
        "redrive_seconds": round(total / found.rate, 1),
        "dead_letters": {
            "offsets": summary.offsets,
            "read": summary.read,
            "is_sample": summary.is_sample,
            "partitions": list(found.chosen.partitions),
            "arrived": summary.arrived,
            "oldest": summary.oldest,
            "newest": summary.newest,
            **decided,
        },
        "reasons": dict(summary.reasons),
        "source_topics": dict(summary.sources),
        "conventions": {str(k): n for k, n in summary.conventions.items()},
        "attempts": {str(k): n for k, n in summary.attempts.items()},
        "samples": [asdict(sample) for sample in summary.samples],
    }
