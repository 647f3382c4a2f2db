"""A topic's fields, and which of them each consumer uses, if a schema of it is known."""

from __future__ import annotations

from dataclasses import replace

import streamlit as st

from headgate.errors import HeadgateError, NotFoundError
from headgate.landscape.pipeline_topics import matcher, reads, writes
from headgate.model.topology import Node
from headgate.model.version import Version
from headgate.rules.topic_schemas.facts.field_reads import TopicUse
from headgate.rules.topic_schemas.facts.report import ShownTopic
from headgate.text.numbers import plural
from headgate.ui.shared import markup
from headgate.ui.shared.markup import Code, Rows
from headgate.usecases.check.check_schemas import show_topic_schema
from headgate.usecases.context import Context

FRESH_SCHEMA = 60.0
"""Seconds for which a registry's response is cached."""
LISTED_FIELDS = 60
LISTED_TOPICS = 3


def topic_schema(context: Context, topic: str) -> None:
    """Show a topic's schema; nothing where neither a registry nor a file is configured for it."""
    declared = context.registry.topic(topic)
    if context.registry.schema_registry_url is None and declared.schema is None:
        return
    key = (context.registry.path, context.registry.schema_registry_url, declared.schema)
    shown, problem = _shown(key, topic, context)
    if shown is not None:
        st.html(markup.section(f"Schema of {topic}") + _facts(shown))
        _consumers(shown.uses)
    elif problem is not None:
        st.html(markup.section("Schema") + markup.unknown(problem))


def topic_schemas_of(context: Context, version: Version, node: Node) -> None:
    """Show the schemas of the topics that a node reads or writes."""
    joined = (*reads(version, matcher(())), *writes(version))
    topics = dict.fromkeys(j.topic for j in joined if j.node == node.id)
    for topic in list(topics)[:LISTED_TOPICS]:
        topic_schema(context, topic)


@st.cache_data(show_spinner=False, ttl=FRESH_SCHEMA, max_entries=64)
def _shown(
    key: tuple[str | None, ...], topic: str, _context: Context
) -> tuple[ShownTopic | None, str | None]:
    """Return the schema, else why there is none; a topic without a schema needs no word."""
    try:
        return _without_tree(show_topic_schema(_context, topic)), None
    except NotFoundError:
        return None, None
    except HeadgateError as error:
        return None, str(error)


def _without_tree(shown: ShownTopic) -> ShownTopic:
    """Leave out what only the rules walk: it can't be copied for each look."""
    return replace(shown, newest=replace(shown.newest, tree=None))


def _facts(shown: ShownTopic) -> str:
    found, fields = shown.schemas, shown.newest.fields
    numbers = [str(v.version) for v in found.versions if v.version is not None]
    rows: Rows = [
        ("Format", shown.newest.format.value.lower()),
        ("Subject", Code(found.subject) if numbers else None),
        ("Versions", ", ".join(numbers)),
        ("Compatibility", found.mode.value if found.mode else None),
        ("Declared in", Code(found.declared) if found.declared else None),
    ]
    shown_fields: Rows = [(f.path, Code(f.type)) for f in fields[:LISTED_FIELDS]]
    rest = len(fields) - LISTED_FIELDS
    more = markup.quiet(f"And {plural(rest, 'more field')}.") if rest > 0 else ""
    return markup.facts(rows) + markup.section("Fields") + markup.facts(shown_fields) + more


def _consumers(uses: tuple[TopicUse, ...]) -> None:
    rows: Rows = [(use.pipeline, _said(use)) for use in uses]
    if facts := markup.facts(rows):
        st.html(markup.section("Fields read") + facts)


def _said(use: TopicUse) -> str:
    if use.blind:
        return f"Unknown: {use.blind}."
    parts = [", ".join(sorted(use.read)) or "no specific field"]
    if use.whole:
        parts.append(f"passes whole records to {', '.join(use.whole)}")
    return "; ".join(parts)
