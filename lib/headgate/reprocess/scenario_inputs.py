"""Read the answers to a scenario's questions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from headgate.errors import ScenarioError
from headgate.model.version import Engine
from headgate.reprocess.scenario import Kind, Option, Scenario


def read_answers(scenario: Scenario, given: Mapping[str, Any], engine: Engine) -> dict[str, Any]:
    """Return what was given by option name, each as its kind has it; what is not given is left out.

    Names may be written with `-` or `_`. ScenarioError names the option, what was expected, and
    what was found: an unknown one, one of another engine, two that exclude each other, a missing
    one.
    """
    answers = {}
    for key, value in given.items():
        option = _known(scenario, key.replace("_", "-"), engine)
        # 0 is an answer, and equal to False.
        if value is not False and value not in (None, (), []):
            answers[option.name] = _read(scenario, option, value)
    _exclusive(scenario, answers)
    for word, options in missing(scenario, answers, engine).items():
        names = ", ".join(f"--{o.name}" for o in options)
        if len(options) == 1:
            raise ScenarioError(f"{scenario.name} needs the option {names}: {options[0].help}")
        raise ScenarioError(f"{scenario.name} needs a {word}: give one of the options {names}")
    return answers


def missing(
    scenario: Scenario, answers: Mapping[str, Any], engine: Engine
) -> dict[str, tuple[Option, ...]]:
    """Return what must be answered and is not: an option by its name, or those of a `one_of`.

    Of options that exclude each other one is enough, given under any of their names.
    """
    groups: dict[str, list[Option]] = {}
    for option in scenario.asks(engine):
        if option.required:
            groups.setdefault(option.one_of or option.name, []).append(option)
    given = {o.one_of or o.name for o in scenario.options if o.name in answers}
    return {word: tuple(options) for word, options in groups.items() if word not in given}


def _known(scenario: Scenario, name: str, engine: Engine) -> Option:
    option = scenario.option(name)
    if option is None:
        names = ", ".join(f"--{o.name}" for o in scenario.asks(engine)) or "none"
        raise ScenarioError(f"{scenario.name} has no option --{name}. Its options: {names}")
    if engine not in option.engines:
        raise ScenarioError(
            f"option --{name} of {scenario.name} doesn't apply to {engine.value} pipelines"
        )
    return option


def _read(scenario: Scenario, option: Option, value: Any) -> Any:
    match option.kind:
        case Kind.FLAG:
            return True
        case Kind.NUMBER:
            return _number(scenario, option, value)
        case Kind.MANY:
            return _several(scenario, option, value)
        case Kind.CHOICE if value not in option.choices:
            expected = ", ".join(option.choices)
            raise ScenarioError(_wrong(scenario, option, f"one of {expected}", value))
    text = str(value).strip()
    if not text:
        raise ScenarioError(_wrong(scenario, option, "a value", value))
    return text


def _several(scenario: Scenario, option: Option, value: Any) -> list[str]:
    """Return the texts. An empty variable of a script isn't an answer, and never means `all`."""
    texts = [value] if isinstance(value, str) else [str(v) for v in value]
    if not any(text.strip(" ,") for text in texts):
        raise ScenarioError(_wrong(scenario, option, "a value", ",".join(texts)))
    return texts


def _number(scenario: Scenario, option: Option, value: Any) -> int:
    try:
        return int(str(value))
    except ValueError:
        raise ScenarioError(_wrong(scenario, option, "a whole number", value)) from None


def _wrong(scenario: Scenario, option: Option, expected: str, found: Any) -> str:
    return f"--{option.name} of {scenario.name}: expected {expected}, found {found!r}"


def _exclusive(scenario: Scenario, answers: Mapping[str, Any]) -> None:
    of: dict[str, str] = {}
    for name in answers:
        option = scenario.option(name)
        if option is None or option.one_of is None:
            continue
        if option.one_of in of:
            raise ScenarioError(
                f"{scenario.name}: give either --{of[option.one_of]} or --{name}, not both"
            )
        of[option.one_of] = name
