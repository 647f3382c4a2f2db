"""Every error says what to do next: its class has a sentence, or a reason why it has none."""

import inspect
import re

import pytest

from headgate import errors
from headgate.errors import HeadgateError, next_step_of, with_next_step

CLASSES = [
    found
    for found in vars(errors).values()
    if isinstance(found, type) and issubclass(found, HeadgateError)
]


@pytest.mark.parametrize("kind", CLASSES, ids=lambda kind: kind.__name__)
def test_a_class_declares_its_next_step_or_why_it_has_none(kind):
    assert "next_step" in vars(kind)
    if kind.next_step is None:
        assert re.search(r"# .+\n    next_step\b", inspect.getsource(kind))
        return
    assert kind.next_step.endswith(".") and "\n" not in kind.next_step
    # A person reads it beside the message, once.
    assert next_step_of(HeadgateError(kind.next_step)) is None


SAYS = [
    "Jars not fetched: no route. Check the network, or set HEADGATE_JARS.",
    "headgate.toml:2: unknown key 'x', did you mean 'y'?",
    "there is no request 7: `headgate requests` lists them",
    "the evidence has 2 queries: choose one with --query",
    "the store x has revision 9999, newer than this program's 0007: update headgate",
]
SAYS_NOT = [
    "Kafka at localhost:9092 did not answer",
    "topic orders is in use: run 20261123-1 is running",
    "the file is read-only",
    "`./stop` exited with 1",
]


@pytest.mark.parametrize("message", SAYS)
def test_no_sentence_is_said_twice(message):
    assert with_next_step(errors.UnreachableError(message)) == message


@pytest.mark.parametrize("message", SAYS_NOT)
def test_a_message_without_advice_gets_the_sentence_of_its_class(message):
    said = with_next_step(errors.UnreachableError(message))
    assert said == f"{message}. {errors.UnreachableError.next_step}"


def test_a_list_stays_whole():
    error = errors.QueryChoiceError("the evidence has no query x, only", ["a", "b"])
    assert with_next_step(error).splitlines()[1:] == ["a", "b", error.next_step]


def test_another_error_has_none():
    assert next_step_of(ValueError("a")) is None and next_step_of("a text") is None


def test_a_step_outside_of_a_run_has_no_run_to_resume():
    assert "RUN" not in with_next_step(errors.StepError("`./stop` exited with 1"))
