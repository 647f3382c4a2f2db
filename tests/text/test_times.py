"""Durations as people write them."""

from datetime import timedelta

import pytest

from headgate.errors import ScenarioError
from headgate.text.times import duration


@pytest.mark.parametrize("text", ["1w", "7d", "P1W", "P7D", "6d24h", "1W"])
def test_a_week_is_a_duration(text):
    assert duration(text, option="every") == timedelta(weeks=1)


def test_other_units_are_none():
    for text in ("1y", "P", "", "1d1w"):
        with pytest.raises(ScenarioError, match="--every: expected a duration such as"):
            duration(text, option="every")
