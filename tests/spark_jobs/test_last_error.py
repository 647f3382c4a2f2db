"""The error of a Python worker's traceback is told by its class and first line."""

import pytest

from headgate.spark_jobs.engine_error import _last_error

_BEGIN = (
    "Traceback (most recent call last):\n"
    '  File "/app/orders.py", line 7, in check\n'
    "    Order.model_validate(order)\n"
    "    ^^^^^^^^^^^^^^^^^^^^^^^^^^^\n"
)


@pytest.mark.parametrize(
    ("ending", "error"),
    [
        ("ValueError: order 7 is odd\n", "ValueError: order 7 is odd"),
        ("KeyError\n", "KeyError"),
        (
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for Order\n"
            "amount\n"
            "  Input should be a valid integer [type=int_type]\n",
            "pydantic_core._pydantic_core.ValidationError: 1 validation error for Order",
        ),
        ("headgate.spark_jobs.EffectError: opens a socket\n", "opens a socket"),
    ],
)
def test_the_first_line_after_the_last_frame_is_the_error(ending, error):
    assert _last_error(f"Exception thrown in a worker: {_BEGIN}{ending}") == error
    chained = f"{_BEGIN}OSError: first\n\nDuring handling of it:\n\n{_BEGIN}{ending}"
    assert _last_error(chained) == error


def test_a_text_without_frames_is_told_as_it_is():
    assert _last_error("Traceback (most recent call last)\nValueError: no") == "ValueError: no"
