"""The search for the first failing offset finds it, and reads little after it."""

import random

import pytest

from headgate.spark_jobs.failing.find_records import first_failing


@pytest.mark.parametrize("seed", range(20))
def test_the_first_failing_offset_is_found(seed):
    chance = random.Random(seed)
    begin = chance.randrange(1000)
    end = begin + chance.randrange(1, 5000)
    failing = sorted(chance.sample(range(begin, end), chance.randint(1, min(end - begin, 9))))
    read = 0

    def fails(first, after):
        nonlocal read
        assert begin <= first < after <= end
        hit = next((n for n in failing if first <= n < after), None)
        read += (after if hit is None else hit + 1) - first
        return hit is not None

    assert first_failing(fails, begin, end) == failing[0]
    assert read <= 4 * (failing[0] - begin) + 2 * 256


def test_an_error_that_needs_several_records_ends_at_one_of_them():
    asked = []

    def fails(first, after):
        asked.append((first, after))
        return first <= 10 and after > 11

    assert 0 <= first_failing(fails, 0, 40) < 40
    assert len(asked) < 12
