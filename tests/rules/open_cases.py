"""Pairs that no engine's rules decide, in the form of `world_cases`."""

from dataclasses import replace

from headgate.model.kafka_streams import StreamsApplication
from headgate.model.version import Engine, Version
from headgate.rules.core.report import Outcome

from .build import aggregate, version

U = Outcome.UNKNOWN
PLAIN = version(aggregate())
STREAMS = Version(engine=Engine.KAFKA_STREAMS, streams=StreamsApplication(application_id="shop"))
GROUP = Version(engine=Engine.CONSUMER_GROUP, name="billing")
CUT = replace(PLAIN, warnings=("explain.txt ends in the middle of a plan",))
TWO_MEANINGS = replace(
    PLAIN,
    warnings=(
        "line 9: the query plan's text is ambiguous: in `data#1.City, State AS total#2L`, a "
        "column's name contains characters that also separate columns",
    ),
)
ASIDE = replace(PLAIN, warnings=("notes.md has an unknown format and was not read",))

# code: [(before, after, cluster, outcome; None: the rule has nothing to say)]
CASES = {
    "EVD003": [
        (PLAIN, STREAMS, None, U),
        (STREAMS, PLAIN, None, U),
        (PLAIN, version(), None, None),
    ],
    "EVD004": [
        (GROUP, replace(GROUP, name="billing-2"), None, U),
        (GROUP, PLAIN, None, None),
        (PLAIN, PLAIN, None, None),
    ],
    "EVD005": [
        (PLAIN, CUT, None, U),
        (CUT, PLAIN, None, U),
        (TWO_MEANINGS, PLAIN, None, U),
        (PLAIN, ASIDE, None, None),
        (PLAIN, PLAIN, None, None),
    ],
}
