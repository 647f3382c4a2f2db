"""What the command line calls by an option's name, by its label on the page."""

from __future__ import annotations

import re

from headgate.reprocess.scenario import Kind, Option
from headgate.reprocess.scenarios.build import SCENARIOS

# A command in backticks stays as it is.
_NAME = re.compile(
    r"\x60[^\x60\s-][^\x60]* [^\x60]*\x60"
    r"|(?P<tick>\x60)?(?<![\w-])--(?P<option>[a-z][a-z-]*[a-z])(?![\w-])(?(tick)\x60)"
)
# The command that offers a chain.
CHAIN = re.compile(
    r"run \x60headgate plan chain [^\x60]+ "
    r"--(?P<option>at|to-earliest)(?:=(?P<value>[^\x60]+))?\x60"
)
# Names without a hyphen are words, too.
_SCENARIO = re.compile(
    rf"(?<![\w\x60-])({'|'.join(name for name in SCENARIOS if '-' in name)})"
    r"(?: with --([a-z][a-z-]*[a-z]))?(?![\w-])"
)
_REPEATED = re.compile(r"; can be repeated(?=\.)| Can be repeated\.")
_SEPARATED = "Separate several values with spaces. Put a value with a space in double quotes."
# By the form of a value on the command line.
_EXAMPLES = {
    "TIME": "2026-11-21T10:00:00Z",
    "CRON": "0 * * * *",
    "DURATION": "PT2H, P1D or 1d2h",
    "GROUP": "group id",
    "PIPELINE": "pipeline name",
    "PIPELINE=CHOICE": "billing=skip audit=nothing",
    "INSTANCE": "host-1 host-2",
    "TOPIC,...": "orders clicks",
    "TOPIC,PARTITION,OFFSET": "orders,0,1200 orders,1,900",
    "TOPIC:PARTITION:OFFSET[-LAST]": "orders:3:17 or orders:3:17-20",
    "TOPIC[:0,2]": "orders or orders:0,2",
    "NEW=OLD": "0=1 or orders=0",
    "ID": "id",
    "FOLDER": "/data/out",
    "FOLDER|TOPIC": "/data/out or orders-out",
    "FOLDER|jdbc:NAME.TABLE": "/data/out or jdbc:shop.totals",
    "FOLDER|kafka:TOPIC|jdbc:NAME.TABLE": "/data/out, kafka:orders-april or jdbc:shop.totals",
    "LOCATION": "/data/checkpoints/new",
    "EVIDENCE": "file or folder",
    "LIST": "refuses,silently_wrong",
    "TEXT": "text",
    "TOPIC": "topic name",
    "source|TOPIC": "source or orders-retry",
    "PARTITION,...": "0 2",
    "COLUMN": "city",
    "MODULE:FUNCTION": "sales.orders:build",
    "NUMBER": "0.01",
    "TOPIC[:PARTITION:FROM-TO]|FOLDER": "late-orders, orders:0:900-950 or /data/late",
    "none|offsets|key|value.FIELD": "value.order_id",
    "TOPIC:PARTITION:FROM-TO": "orders:0:1000-2000 orders:1:950-1900",
}
# Options that take only some of the values of their form.
_OF_OPTION = {"time-column": "window, event_time or value.event_time"}


def example(option: Option) -> str | None:
    """Return what an answer looks like, as a field's placeholder; None where nothing is known."""
    form = _EXAMPLES.get(option.metavar) if option.metavar else None
    return _OF_OPTION.get(option.name, form)


def as_asked(text: str, scenario: str | None) -> str:
    """Return a sentence with the page's label instead of each option's name.

    The command of a chain is replaced by the target of the page's link.
    """
    declared = SCENARIOS.get(scenario) if scenario else None
    if declared is None:
        return text

    def asked(found: re.Match[str]) -> str:
        option = declared.option(found["option"]) if found["option"] else None
        return f"“{option.ask}”" if option is not None and option.ask else found[0]

    return _NAME.sub(asked, CHAIN.sub(_chain, text))


def _chain(found: re.Match[str]) -> str:
    option = SCENARIOS["chain"].option(found["option"])
    assert option is not None
    value = f" {found['value']}" if found["value"] else ""
    return f"plan “{SCENARIOS['chain'].title}” with “{option.ask}”{value}"


def on_card(text: str, scenario: str) -> str:
    """Return what a scenario's card says, with the titles of other scenarios for their names."""
    parts = text.split("\x60")
    parts[::2] = (_SCENARIO.sub(_titled, part) for part in parts[::2])
    return as_asked("\x60".join(parts), scenario)


def _titled(found: re.Match[str]) -> str:
    other = SCENARIOS[found[1]]
    option = other.option(found[2]) if found[2] else None
    rest = f" with “{option.ask}”" if option else found[0].removeprefix(found[1])
    return f"“{other.title}”{rest}"


def page_help(option: Option, scenario: str) -> str:
    """Return the help of an option as the page needs it: a field takes several values at once."""
    text = as_asked(_REPEATED.sub("", option.help), scenario)
    text = text.replace("Pass this if", "Choose this if")
    return f"{text} {_SEPARATED}" if option.kind is Kind.MANY else text
