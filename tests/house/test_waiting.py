"""A test that waits fails if what it waits for never comes, and says what that was."""

import pytest

from support.waiting import until


@pytest.mark.parametrize(
    ("what", "said"), [("no order", "no order"), (lambda: ["log"], "log"), ("", "until")]
)
def test_waiting_in_vain_says_what_for(what, said):
    with pytest.raises(AssertionError, match=rf"^waited 0.1 s in vain: .*{said}"):
        until(lambda: False, what, seconds=0.1)


def test_what_comes_is_returned():
    comes = iter(["", "", "order"])
    assert until(lambda: next(comes), every=0) == "order"
