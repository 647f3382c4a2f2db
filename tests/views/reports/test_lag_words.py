"""Lag in words: the number, and the age of the oldest of what it is computed from."""

from datetime import UTC, datetime

import pytest

from headgate.views.reports.lag_words import lag_words

NOW = datetime(2026, 11, 21, 12, 0, 10, tzinfo=UTC)
KAFKA, OLDER = "2026-11-21T12:00:06+00:00", "2026-11-21T11:58:10+00:00"


@pytest.mark.parametrize(
    ("lag", "read", "said"),
    [
        (206, (KAFKA,), "206 records, 4 s ago"),
        (1, (KAFKA, None), "1 record, 4 s ago"),
        (0, (KAFKA, OLDER), "0 records, 2 min ago"),
        (7, (None,), "7 records"),
        (None, (KAFKA,), None),
    ],
)
def test_the_age_is_that_of_the_oldest_part(lag, read, said):
    assert lag_words(lag, *read, now=NOW) == said
