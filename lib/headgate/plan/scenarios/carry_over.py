"""Carry over: a new version begins exactly where the old one stopped, without its state."""

from __future__ import annotations

from headgate.model.version import Engine
from headgate.plan.plan import Plan
from headgate.plan.scenario import SUPPORTED, Asked, Kind, Option, Scenario, refused
from headgate.plan.scenarios.begin_query import Wish, begin_query, found_query
from headgate.plan.scenarios.takes import given_takes, left_risks, matched_takes
from headgate.plan.succession import CARRY, Take


def build(asked: Asked) -> Plan:
    """Return the plan; the old checkpoint is set aside, or stays where it is with `--to`."""
    found = found_query(asked)
    if isinstance(found, Plan):
        return found
    checkpoint, position = found
    takes: tuple[Take, ...]
    if rows := asked.options.get("source", ()):
        takes, refusals = given_takes(rows, asked.version), list[str]()
        risks = left_risks(takes, position)
    else:
        takes, refusals, risks = matched_takes(position, asked.version)
    wish = Wish(
        target=CARRY,
        takes=takes,
        to=asked.options.get("to"),
        new_output=asked.options.get("new-output", False),
        refusals=tuple(refusals),
        risks=tuple(risks),
    )
    return begin_query(asked, checkpoint, position, wish)


OPTIONS = (
    Option(
        name="to",
        ask="To which new location?",
        help="Make the new checkpoint here and leave the old one where it is: an absolute path.",
        metavar="LOCATION",
    ),
    Option(
        name="source",
        ask="Which source of the new version takes over which of the old one?",
        help="By place or name: 0=1, orders=0, 0=0,1 (both become one), 2=new; again for more.",
        kind=Kind.MANY,
        metavar="NEW=OLD",
    ),
    Option(
        name="new-output",
        ask="Does the new version write somewhere else?",
        help="The new version's file sink writes to a folder that the old one did not write to.",
        kind=Kind.FLAG,
    ),
)

SCENARIO = Scenario(
    name="carry-over",
    title="Carry over",
    what="Let an incompatible new version begin exactly where the old one stopped, with no state.",
    build=build,
    options=OPTIONS,
    support={
        Engine.SPARK: SUPPORTED,
        Engine.CONSUMER_GROUP: refused(
            "a consumer group's offsets are not bound to a version: it goes on where it is, and"
            " from-point with --from-group gives another group the same place"
        ),
        Engine.KAFKA_STREAMS: refused(
            "records on their way in repartition topics belong to the old version: from-scratch"
            " reads everything again, from-point begins both versions at one place"
        ),
    },
)
