"""Ask what a scenario needs to know; the questions are the scenario's own declarations."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from typing import Any

import streamlit as st

from headgate.model.version import Engine
from headgate.reprocess.scenario import Answer, Kind, Option, Scenario
from headgate.reprocess.scenario_inputs import missing
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.ui.reprocess.option_words import example, page_help
from headgate.ui.shared import markup

_NEITHER = "Not chosen"
_IN_A_ROW = 2


def ask_options(scenario: Scenario, engine: Engine) -> dict[str, Any]:
    """Return what was answered, by option name; what was not answered is left out.

    Of questions that exclude each other one is chosen first, then only that one is asked.
    """
    if scenario.support[engine].answer is Answer.REFUSED or not scenario.asks(engine):
        return {}
    groups, single = _questions(scenario, engine)
    _take_linked(scenario, groups)
    answers: dict[str, Any] = {}
    with st.container(border=True, key="scenario_form"):
        for word, options in groups.items():
            answers |= _ask_one(scenario, word, options)
        answers |= _ask_each(scenario, [o for o in single if not o.after])
        answers |= _ask_each(scenario, [o for o in single if _is_next(o, answers)])
    return answers


def linked_answers(scenario: str, name: str, value: str | None) -> dict[str, str]:
    """Return the query parameters of a link to a form in which an option is chosen and answered."""
    option = SCENARIOS[scenario].option(name)
    assert option is not None and option.one_of is not None
    answer = {option_key(scenario, name): value} if value else {}
    return {choice_key(scenario, option.one_of): name, **answer}


def _take_linked(scenario: Scenario, groups: Mapping[str, Sequence[Option]]) -> None:
    """Take what a link chooses and answers out of the address, so that both can be changed."""
    for word, options in groups.items():
        names = {option.name: option for option in options}
        choice = choice_key(scenario.name, word)
        if (chosen := names.get(st.query_params.get(choice, ""))) is None:
            continue
        st.session_state[choice] = st.query_params.pop(choice)
        answer = option_key(scenario.name, chosen.name)
        if chosen.kind is Kind.TEXT and answer in st.query_params:
            st.session_state[answer] = st.query_params.pop(answer)


def _questions(scenario: Scenario, engine: Engine) -> tuple[dict[str, list[Option]], list[Option]]:
    """Return those that exclude each other by their word, and the others, needed ones first."""
    groups: dict[str, list[Option]] = {}
    single: list[Option] = []
    for option in scenario.asks(engine):
        (groups.setdefault(option.one_of, []) if option.one_of else single).append(option)
    single += [options[0] for options in groups.values() if len(options) == 1]
    single.sort(key=lambda option: not option.required)
    return {word: options for word, options in groups.items() if len(options) > 1}, single


def unanswered(scenario: Scenario, engine: Engine, answers: Mapping[str, Any]) -> bool:
    """Name what is still to be answered; returns whether there is something."""
    if scenario.support[engine].answer is Answer.REFUSED:
        return False
    open_words = missing(scenario, answers, engine)
    if not open_words:
        return False
    labels = (
        word.capitalize() if len(options) > 1 else options[0].ask
        for word, options in open_words.items()
    )
    st.html(markup.quiet(f"Required for the plan: {'; '.join(labels)}"))
    return True


def _is_next(option: Option, answers: Mapping[str, Any]) -> bool:
    return any(name in answers for name in option.after)


def _ask_one(scenario: Scenario, word: str, options: Sequence[Option]) -> dict[str, Any]:
    names = {option.name: option for option in options}
    which, value = st.columns([1, 1], gap="medium", vertical_alignment="bottom")
    with which:
        chosen = st.selectbox(
            word.capitalize(),
            list(names),
            format_func=lambda name: names[name].ask,
            key=choice_key(scenario.name, word),
            index=None,
            placeholder=f"Choose a {word}",
        )
    if chosen is None:
        return {}
    with value:
        if names[chosen].kind is Kind.FLAG:
            st.caption(page_help(names[chosen], scenario.name))
            return {chosen: True}
        return _answered(names[chosen], _ask(scenario, names[chosen]))


def _ask_each(scenario: Scenario, options: Sequence[Option]) -> dict[str, Any]:
    answers: dict[str, Any] = {}
    for begin in range(0, len(options), _IN_A_ROW):
        row = options[begin : begin + _IN_A_ROW]
        for column, option in zip(st.columns(_IN_A_ROW, gap="medium"), row, strict=False):
            with column:
                answers |= _answered(option, _ask(scenario, option))
    return answers


def _ask(scenario: Scenario, option: Option) -> Any:
    """Draw the question and return the answer, or what stands for none."""
    key, about = option_key(scenario.name, option.name), page_help(option, scenario.name)
    match option.kind:
        case Kind.FLAG:
            return st.checkbox(option.ask, help=about, key=key)
        case Kind.NUMBER:
            return st.number_input(option.ask, value=None, step=1, help=about, key=key)
        case Kind.CHOICE:
            return st.selectbox(
                option.ask, option.choices, index=None, help=about, key=key,
                placeholder=_NEITHER,
            )  # fmt: skip
        case Kind.FILE:
            return st.file_uploader(option.ask, help=about, key=key)
    return st.text_input(option.ask, placeholder=example(option), help=about, key=key)


def _answered(option: Option, value: Any) -> dict[str, Any]:
    if value is None or value is False or value == "":
        return {}
    match option.kind:
        case Kind.MANY:
            return {option.name: _values(str(value))}
        case Kind.FILE:
            rows = value.getvalue().decode("utf-8-sig", errors="replace").splitlines()
            return {option.rows_of or option.name: rows}
    return {option.name: value}


def _values(text: str) -> list[str]:
    """A space separates here, unless it is quoted; on the command line the option is repeated."""
    rows = csv.reader([text.strip()], delimiter=" ", skipinitialspace=True)
    return [value for row in rows for value in row if value]


def choice_key(scenario: str, word: str) -> str:
    """Return the key of the choice between questions; one of them may be called `word` itself."""
    return f"choice_{scenario}_{word}"


def option_key(scenario: str, name: str) -> str:
    """Return the key of a question's answer."""
    return f"option_{scenario}_{name}"
