"""What a rule looks at and how it is known, beside the finding that it made."""

from __future__ import annotations

import inspect

import streamlit as st

from headgate.rules.catalogue import AnyRule, all_rules
from headgate.ui.shared import markup
from headgate.usecases.context import Context
from headgate.views.reports.rule_links import rule_link

_MEASURED = "measured"


def rule_popover(context: Context, code: str, *, key: str) -> None:
    """Offer a rule's page under its code; the code alone where no rule is called so."""
    rule = _rules().get(code)
    if rule is None:
        st.html(markup.code(code), width="content")
        return
    with st.popover(code, key=f"rule-{key}", type="tertiary", help="What this rule looks at"):
        st.html(markup.heading(f"Rule {code}", title(rule)))
        st.html("".join(markup.paragraph(text) for text in paragraphs(rule)))
        st.html(markup.facts([("Known from", _source(rule))]))
        if page := rule_link(code, context.registry.rules_url):
            st.html(markup.facts([("Its page", markup.Link(page))]))
        st.html(markup.section("Live with it: put into headgate.toml"))
        st.code(_acceptance(code), language="toml")


def title(rule: AnyRule) -> str:
    """Return the name of the rule's function as words."""
    words = str(rule.check.__name__).replace("_", " ").strip()
    return words[:1].upper() + words[1:]


def paragraphs(rule: AnyRule) -> list[str]:
    """Return the docstring of a rule, paragraph by paragraph."""
    text = inspect.getdoc(rule.check) or rule.why
    return [" ".join(part.split()) for part in text.split("\n\n")]


def _source(rule: AnyRule) -> object:
    if rule.source == _MEASURED:
        return "restarts of changed queries on real Spark"
    return markup.Link(rule.source)


def _acceptance(code: str) -> str:
    return f'[[accept]]\nrule = "{code}"\nreason = "why it does no harm here"\nuntil = 2027-06-30'


@st.cache_resource(show_spinner=False)
def _rules() -> dict[str, AnyRule]:
    return {rule.code: rule for rule in all_rules()}
