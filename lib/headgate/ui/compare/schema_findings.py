"""What the declared schemas of a version's topics do to their consumers, beside a comparison."""

from __future__ import annotations

import streamlit as st

from headgate.errors import HeadgateError
from headgate.landscape.pipeline_topics import matcher, reads, writes
from headgate.model.topic_schema import SchemaFinding
from headgate.model.version import Version
from headgate.ui.shared import markup
from headgate.ui.shared.schema_panel import FRESH_SCHEMA
from headgate.usecases.check.check_schemas import check_topic_schema
from headgate.usecases.context import Context
from headgate.views.reports.document import accepted_text
from headgate.views.reports.topic_schemas import OUTCOMES
from headgate.views.scene.outcome_words import GLYPHS

MOST_TOPICS = 8


def schema_findings(context: Context, version: Version) -> None:
    """Show them for topics that headgate.toml declares a schema of, if a registry is configured.

    Without one there is no older schema to compare with, and nothing is shown.
    """
    registry = context.registry
    if registry.schema_registry_url is None:
        return
    joined = (*reads(version, matcher(())), *writes(version))
    declared = {j.topic: registry.topic(j.topic).schema for j in joined}
    for topic, schema in [(t, s) for t, s in declared.items() if s][:MOST_TOPICS]:
        key = (registry.path, registry.schema_registry_url, schema)
        found, problem = _checked(key, topic, context)
        empty = (
            markup.unknown(problem) if problem else markup.quiet("Compatible with all consumers.")
        )
        shown = "".join(map(_finding, found)) or empty
        st.html(markup.section(f"Schema of {topic}") + shown)


@st.cache_data(show_spinner=False, ttl=FRESH_SCHEMA, max_entries=64)
def _checked(
    key: tuple[str | None, ...], topic: str, _context: Context
) -> tuple[tuple[SchemaFinding, ...], str | None]:
    """Return the findings, else why there are none."""
    try:
        return check_topic_schema(_context, topic).report.findings, None
    except HeadgateError as error:
        return (), str(error)


def _finding(finding: SchemaFinding) -> str:
    outcome = OUTCOMES[finding.effect]
    who = f" ({finding.pipeline})" if finding.pipeline else ""
    told = finding.question or finding.remedy
    accepted = markup.quiet(accepted_text(finding.accepted)) if finding.accepted else ""
    said = markup.paragraph(f"{finding.why} {told} `{finding.rule}`")
    return markup.state(GLYPHS[outcome], outcome.word, f"{finding.path}{who}") + said + accepted
