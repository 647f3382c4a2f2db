"""One finding in full: what happens, why, what to do, and where that can be done."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import Any

import streamlit as st

from headgate.model.topology import Topology
from headgate.model.version import Engine
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.rules.catalogue import all_rules
from headgate.rules.core.report import Finding, StateEffect
from headgate.rules.core.rule import NamedRule
from headgate.text.numbers import day_and_time
from headgate.ui.compare.finding_list import WHOLE, sign
from headgate.ui.shared import markup
from headgate.ui.shared.cached_reads import Comparison
from headgate.ui.shared.keys import ReprocessKey
from headgate.ui.shared.markup import Code, Link
from headgate.usecases.context import Context
from headgate.views.reports.comparison import ROLLBACKS, matters
from headgate.views.reports.document import accepted_text, rule_link
from headgate.views.scene.outcome_words import WORDS

_MEASURED = "measured"


def rule_popover(context: Context, code: str, *, pipeline: str | None, key: str) -> None:
    """Offer a rule's page under its code; only the code if no rule has it."""
    rule = _rules().get(code)
    if rule is None:
        st.html(markup.code(code), width="content")
        return
    with st.popover(code, key=f"rule-{key}", type="tertiary", help="What this rule checks"):
        st.html(markup.heading(f"Rule {code}", title(rule)))
        st.html("".join(markup.paragraph(text) for text in paragraphs(rule)))
        st.html(markup.facts([("Source", _source(rule))]))
        if page := rule_link(code, context.registry.rules_url):
            st.html(markup.facts([("Documentation", markup.Link(page))]))
        st.html(markup.section("Accept this finding in headgate.toml"))
        st.code(_acceptance(code, pipeline), language=None)


def title(rule: NamedRule) -> str:
    """Return the rule's title with a capital letter."""
    return rule.title[:1].upper() + rule.title[1:]


def paragraphs(rule: NamedRule) -> list[str]:
    """Return the docstring of a rule, paragraph by paragraph."""
    text = inspect.getdoc(rule.check) or rule.why
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _source(rule: NamedRule) -> object:
    if rule.source == _MEASURED:
        return "Headgate measured this by restarting changed queries on Spark."
    return markup.Link(rule.source)


def _acceptance(code: str, pipeline: str | None) -> str:
    """Return an entry; without a pipeline, it would hold for all of them."""
    only = f"pipeline = {json.dumps(pipeline)}\n" if pipeline else ""
    return (
        f'[[accept]]\nrule = "{code}"\n{only}reason = "why this is acceptable here"\n'
        "until = 2027-06-30"
    )


@st.cache_resource(show_spinner=False)
def _rules() -> dict[str, NamedRule]:
    return {rule.code: rule for rule in all_rules()}


EFFECTS = {
    StateEffect.EXACT: "kept unchanged",
    StateEffect.MIXED: "kept, but results mix the old and the new logic",
    StateEffect.REINTERPRETED: "kept, but the new version interprets the values differently",
    StateEffect.ORPHANED: "kept on disk, but no operator reads the state",
    StateEffect.LOST: "lost",
    StateEffect.NONE: None,
}

_MOMENT = " as of "
"""Text before the time at which Kafka was read."""


def finding_card(
    context: Context, pipeline: str | None, found: Comparison, finding: Finding, key: str
) -> None:
    """Show everything that is known of a finding; `key` is its own on the page."""
    glyph, tone = sign(finding)
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.html(markup.state(glyph, tone, WORDS[finding.outcome]), width="stretch")
        rule_popover(context, finding.rule, pipeline=pipeline, key=key)
    if finding.accepted:
        st.html(markup.unknown(accepted_text(finding.accepted), "✓"))
    st.html(markup.say(finding.why, tone))
    if finding.question:
        st.html(markup.section("Question") + markup.unknown(finding.question))
    if finding.remedy:
        st.html(markup.section("What to do") + markup.paragraph(finding.remedy))
    _scenario(finding, pipeline)
    before, after = value_text(finding.before), value_text(finding.after)
    st.html(markup.change("", before, after) + markup.facts(_rows(finding, found)))


def _rows(finding: Finding, found: Comparison) -> markup.Rows:
    yield "Location", _where(finding, found)
    yield "Error", Code(finding.error_class) if finding.error_class else None
    yield "State", EFFECTS[finding.state_effect] if finding.state_effect else None
    yield "Rollback", ROLLBACKS[finding.rollback] if matters(finding) else None
    yield "Source", Link(finding.source)


def _where(finding: Finding, found: Comparison) -> str:
    """Return what the node is called in both graphs."""
    location = finding.location
    if location.before is None and location.after is None:
        return WHOLE
    old = _label(found.before.topology, location.before)
    new = _label(found.after.topology, location.after)
    if old is None or new is None:
        return f"{new or old}, only in the {'new' if old is None else 'old'} version"
    return old if old == new else f"{old} → {new}"


def _label(topology: Topology, node: str | None) -> str | None:
    found = topology.node(node or "")
    return found.label if found else node


def _scenario(finding: Finding, pipeline: str | None) -> None:
    """Link to the scenario that handles it; one that this release can't plan is only named."""
    if finding.scenario is None:
        return
    if finding.scenario not in SCENARIOS or pipeline is None:
        st.html(markup.facts([("Scenario", Code(finding.scenario))]))
        return
    st.page_link(
        "pages/reprocess.py",
        label=f"Plan {finding.scenario}",
        icon=":material/replay:",
        help="Opens the Reprocess page with this pipeline and scenario. Nothing changes until you "
        "run the plan.",
        query_params=[
            (ReprocessKey.PIPELINE, pipeline),
            (ReprocessKey.SCENARIO, finding.scenario),
        ],
    )


def value_text(value: Any) -> str:
    """Return a plain value as people read it: lists line by line."""
    if value is None or value == "":
        return ""
    if isinstance(value, list | tuple):
        return "\n".join(value_text(v) for v in value)
    if isinstance(value, dict):
        return "\n".join(f"{k}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items())
    return str(value)


_ENGINES: Mapping[str, str] = {engine.value: engine.words for engine in Engine}


def engine_words(judged_for: str) -> str:
    """Return the engine and version of a report as people write them."""
    engine, _, rest = judged_for.partition(" ")
    said, asked, at = rest.partition(_MOMENT)
    moment = f"{_MOMENT}{day_and_time(at)} UTC" if asked else ""
    return f"for {_ENGINES.get(engine, engine)} {said}{moment}".rstrip() if judged_for else ""
