"""Comparisons that no engine's rules decide: of two engines, and of plain consumer groups."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from headgate.model.version import Engine, Version
from headgate.rules.core.graph_changes import changes
from headgate.rules.core.match_operators import match_nodes
from headgate.rules.core.report import Finding, Outcome, Report, Rollback
from headgate.rules.core.rule import NamedRule, RuleResult, Texts, declared

_SOURCE = "no external source: the rule only checks what the evidence contains"


Check = Callable[[Version, Version], Iterator[RuleResult]]


@dataclass(frozen=True, slots=True)
class OpenRule(NamedRule):
    """A rule that never decides: its findings are `unknown`, with the question."""

    def run(self, before: Version, after: Version) -> Iterator[Finding]:
        """Yield one finding for every question of the check."""
        for v in self.check(before, after):
            yield v.finding(self.code, self.why, self.source)


def open_rule(code: str, **texts: Texts) -> Callable[[Check], OpenRule]:
    """Turn a check into an `OpenRule`; `texts` are `remedies` and `questions`."""
    return declared(OpenRule, code, _SOURCE, outcomes=(Outcome.UNKNOWN,), **texts)


_COMPARE_TWO_VERSIONS = "Compare two versions that use the same engine."
_ARE_THESE_TWO = "Do both versions belong to the same pipeline?"


@open_rule("EVD003", remedies=(_COMPARE_TWO_VERSIONS,), questions=(_ARE_THESE_TWO,))
def two_engines(before: Version, after: Version) -> Iterator[RuleResult]:
    """The two versions belong to different engines. Headgate can't compare them.

    Different engines share no state.
    """
    if before.engine is not after.engine:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            rollback=Rollback.UNKNOWN,
            before=before.engine.value,
            after=after.engine.value,
            question=_ARE_THESE_TWO,
            remedy=_COMPARE_TWO_VERSIONS,
        )


_COMPARE_THE_GROUPS = (
    "Compare the group's committed offsets with the offsets that the new version must start from."
)
_DOES_THE_NEW = "Does the new version read the same topics, and does it need earlier records?"


@open_rule("EVD004", remedies=(_COMPARE_THE_GROUPS,), questions=(_DOES_THE_NEW,))
def plain_consumer_group(before: Version, after: Version) -> Iterator[RuleResult]:
    """The evidence of a plain consumer group shows only the group's offsets.

    Only the application's code shows how the application processes records.
    """
    if before.engine is after.engine is Engine.CONSUMER_GROUP:
        yield RuleResult(
            outcome=Outcome.UNKNOWN,
            rollback=Rollback.UNKNOWN,
            before=before.name,
            after=after.name,
            question=_DOES_THE_NEW,
            remedy=_COMPARE_THE_GROUPS,
        )


_ADD_THE_EVIDENCE = "Add the complete evidence, as the engine wrote it."
_WHAT_DOES_THE_UNREADABLE = (
    "Headgate can't read part of the {side} version's evidence. What does that part contain?"
)
_WHICH_COLUMNS = "Which columns does the {side} version's query plan mean by {columns}?"
_ADD_EXACT_NAMES = (
    "Capture the pipeline's entry point with `headgate capture module:function`, or add the "
    "analyzed plan as JSON. Both have exact column names and types."
)
_WHICH_PLAN = "Which of these query plans belongs to the {side} version?"
_KEEP_ONE_PLAN = (
    "Remove the query plans of other versions from the evidence. If all of them belong to the same "
    "version, capture its entry point with `headgate capture module:function`."
)
_CONTRADICTORY = re.compile(r" plan and the \w+ plan show different operators: ")
_AMBIGUOUS = re.compile(r"query plan's text is ambiguous: in (?P<columns>`.*`)", re.S)


@open_rule(
    "EVD005",
    remedies=(_ADD_THE_EVIDENCE, _KEEP_ONE_PLAN, _ADD_EXACT_NAMES),
    questions=(_WHAT_DOES_THE_UNREADABLE, _WHICH_PLAN, _WHICH_COLUMNS),
)
def incomplete_evidence(before: Version, after: Version) -> Iterator[RuleResult]:
    """Some evidence is truncated, damaged, ambiguous or in an unknown format, or its query plans
    contradict each other. So Headgate couldn't read all of it.

    The unread part may decide the outcome, so the outcome is Unknown. The text of a plan prints
    column names without quotes. So a comma or `#` in a name can make the text ambiguous.
    """
    for side, version in (("old", before), ("new", after)):
        gaps = [w for w in version.warnings if is_gap(w)]
        plans = [w for w in gaps if _CONTRADICTORY.search(w)]
        found = [m for w in gaps if (m := _AMBIGUOUS.search(w))]
        if unread := [w for w in gaps if w not in plans and not _AMBIGUOUS.search(w)]:
            question = _WHAT_DOES_THE_UNREADABLE.format(side=side)
            yield _gap(f"of the {side} version is incomplete", unread, question, _ADD_THE_EVIDENCE)
        if plans:
            question = _WHICH_PLAN.format(side=side)
            yield _gap(f"of the {side} version is contradictory", plans, question, _KEEP_ONE_PLAN)
        if found:
            question = _WHICH_COLUMNS.format(columns=found[0]["columns"], side=side)
            texts = [m.string for m in found]
            yield _gap(f"of the {side} version is ambiguous", texts, question, _ADD_EXACT_NAMES)


def _gap(what: str, gaps: Sequence[str], question: str, remedy: str) -> RuleResult:
    more = f" (and {len(gaps) - 1} more)" if len(gaps) > 1 else ""
    return RuleResult(
        outcome=Outcome.UNKNOWN,
        rollback=Rollback.UNKNOWN,
        because=f"The evidence {what}: {gaps[0]}{more}.",
        question=question,
        remedy=remedy,
    )


# What a reader leaves aside without a loss: files that were never evidence.
_ASIDE = (
    "has an unknown format and was not read",
    "which is evidence only of Kafka Streams applications",
)

# What a reader says of a run without a batch: the version of the run before it was read whole.
_OF_EARLIER_RUNS = re.compile(r": the newest run \S+ .*, so this version is from run ")

# What a reader says of a description without settings: only the prefix of topic names is unknown.
_ONLY_NAMES = "the evidence has no application id, "


# What a reader says of a checkpoint that was read whole: the rules on checkpoints judge it.
_OF_CHECKPOINTS = re.compile(
    r"/metadata is missing$|/(?:offsets|commits) (?:lacks|contains no batch)"
    r"|/commits has batch \d+, but |^the checkpoint has no state of operator"
    r"|^`_spark_metadata` has batch |/(?:offsets|commits)/\d+ can't be read: "
)


def is_gap(warning: str) -> bool:
    """Say whether a parser's warning is of evidence that it could not parse."""
    if warning.endswith(_ASIDE) or warning.startswith(_ONLY_NAMES):
        return False
    return not (_OF_CHECKPOINTS.search(warning) or _OF_EARLIER_RUNS.search(warning))


RULES = (two_engines, plain_consumer_group, incomplete_evidence)


def judge_other(before: Version, after: Version) -> Report:
    """Return `unknown` with its question; versions of one engine also get their changes."""
    nodes = match_nodes(before.topology, after.topology)
    found = [f for rule in (two_engines, plain_consumer_group) for f in rule.run(before, after)]
    same = before.engine is after.engine
    return Report(
        findings=tuple(found),
        changes=changes(before, after, nodes) if same else (),
        matches=nodes.pairs if same else {},
        judged_for=before.engine.value,
    )
