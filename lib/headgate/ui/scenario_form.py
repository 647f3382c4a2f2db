"""Ask what a scenario needs to know; the questions are the scenario's own declarations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

import streamlit as st

from headgate.model.version import Engine
from headgate.plan.answers import missing
from headgate.plan.scenario import Answer, Kind, Option, Scenario
from headgate.ui import markup

_NEITHER = "none of these"


def ask_options(scenario: Scenario, engine: Engine) -> dict[str, Any]:
    """Return what was answered, by option name; what was not answered is left out.

    Of questions that exclude each other one is chosen first, then only that one is asked.
    """
    answers: dict[str, Any] = {}
    is_refused = scenario.support[engine].answer is Answer.REFUSED
    asked = () if is_refused else scenario.asks(engine)
    if not asked:
        return answers
    with st.container(border=True, key="scenario_form"):
        for word, options in groupby(asked, key=lambda option: option.one_of):
            if word is None:
                answers |= _ask_each(scenario, list(options))
            else:
                answers |= _ask_one(scenario, word, list(options))
    return answers


def unanswered(scenario: Scenario, engine: Engine, answers: Mapping[str, Any]) -> bool:
    """Say what is still to be answered; returns whether there is something."""
    if scenario.support[engine].answer is Answer.REFUSED:
        return False
    open_words = missing(scenario, answers, engine)
    for word, options in open_words.items():
        what = f"Choose a {word}" if len(options) > 1 else options[0].ask
        st.html(markup.quiet(f"{what}: then the plan is made."))
    return bool(open_words)


def _ask_one(scenario: Scenario, word: str, options: Sequence[Option]) -> dict[str, Any]:
    names = {option.name: option for option in options}
    which, value = st.columns([1, 1], gap="medium", vertical_alignment="bottom")
    with which:
        chosen = st.selectbox(
            f"The {word}",
            list(names),
            format_func=lambda name: names[name].ask,
            key=_key(scenario, word),
            index=None,
            placeholder=f"Choose a {word}",
        )
    if chosen is None:
        return {}
    with value:
        if names[chosen].kind is Kind.FLAG:
            st.caption(names[chosen].help)
            return {chosen: True}
        return _answered(names[chosen], _ask(scenario, names[chosen]))


def _ask_each(scenario: Scenario, options: Sequence[Option]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for column, option in zip(st.columns(max(len(options), 2)), options, strict=False):
        with column:
            answers |= _answered(option, _ask(scenario, option))
    return answers


def _ask(scenario: Scenario, option: Option) -> Any:
    """Draw the question and return the answer, or what stands for none."""
    key = _key(scenario, option.name)
    match option.kind:
        case Kind.FLAG:
            return st.checkbox(option.ask, help=option.help, key=key)
        case Kind.NUMBER:
            return st.number_input(option.ask, value=None, step=1, help=option.help, key=key)
        case Kind.CHOICE:
            return st.selectbox(
                option.ask, option.choices, index=None, help=option.help, key=key,
                placeholder=_NEITHER,
            )  # fmt: skip
        case Kind.FILE:
            return st.file_uploader(option.ask, help=option.help, key=key)
    return st.text_input(option.ask, placeholder=option.metavar, help=option.help, key=key)


def _answered(option: Option, value: Any) -> dict[str, Any]:
    if value is None or value is False or value == "":
        return {}
    match option.kind:
        case Kind.MANY:
            # A blank separates here; on the command line the option is given again.
            return {option.name: str(value).split()}
        case Kind.FILE:
            rows = value.getvalue().decode("utf-8-sig", errors="replace").splitlines()
            return {option.rows_of or option.name: rows}
    return {option.name: value}


def _key(scenario: Scenario, word: str) -> str:
    return f"option_{scenario.name}_{word}"
