"""Whether the inputs of a pipeline begin at one point, and what is said where they don't."""

from __future__ import annotations

from collections.abc import Iterable

from headgate.reprocess.steps.offsets.target import Place, Target, TopicPart
from headgate.text.words import named

# A number of records is another time in every partition; a beginning or an end is one for all.
_OF_EACH = frozenset({Place.OFFSET, Place.SHIFT})


def cut_risks(
    target: Target, moving: Iterable[TopicPart], read: Iterable[TopicPart]
) -> tuple[str, ...]:
    """Return what makes a start inconsistent; `read` are all partitions that the pipeline reads.

    Only a time is the same moment in all of them; a list or another group's offsets are whatever
    their author meant, as long as no partition is left out.
    """
    there = set(moving)
    if target.place is Place.CURRENT or not there:
        return ()
    risks = []
    if target.place in _OF_EACH and len(there) > 1:
        risks.append(
            f"{target.describe()} is another moment in each of {len(there)} partitions: what is"
            " joined or counted over them begins at no one point in time (--to-datetime is one)"
        )
    if left := set(read) - there:
        parts = named(f"{topic}[{number}]" for topic, number in left)
        stay = "stays where it is" if len(left) == 1 else "stay where they are"
        risks.append(f"{parts} {stay}: the inputs do not begin at one point")
    return tuple(risks)
