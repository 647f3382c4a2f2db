"""Ask for something that may take long in the background, and hold the page up only a moment."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Generic, TypeVar

import streamlit as st

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Late:
    """No answer yet, `seconds` after it was asked for."""

    seconds: float


@dataclass(frozen=True, slots=True)
class _Asked(Generic[T]):
    answer: Future[T]
    begun: float


def ask_within(key: str, call: Callable[[], T], seconds: float) -> T | Late:
    """Return what `call` returns, or `Late` where that takes longer; raises what it raises.

    What is late is not asked once more: the session's next ask of that `key` gets its answer.
    """
    asked: _Asked[T] | None = st.session_state.get(key)
    if asked is None:
        asked = _begin(call)
        st.session_state[key] = asked
    wait((asked.answer,), seconds)
    if not asked.answer.done():
        return Late(time.monotonic() - asked.begun)
    st.session_state.pop(key, None)
    return asked.answer.result()


def _begin(call: Callable[[], T]) -> _Asked[T]:
    answer: Future[T] = Future()

    def work() -> None:
        try:
            answer.set_result(call())
        except BaseException as error:
            answer.set_exception(error)

    # A daemon: a server that is stopped does not wait for an answer that nobody sees any more.
    threading.Thread(target=work, name="patience", daemon=True).start()
    return _Asked(answer, time.monotonic())
