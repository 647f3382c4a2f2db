"""Numbers in sentences."""

from headgate.text.numbers import plural


def test_a_plural_has_the_ending_of_its_word():
    assert [plural(n, "batch") for n in (0, 1, 2)] == ["0 batches", "1 batch", "2 batches"]
    assert plural(2000, "record", f"{2000:,}") == "2,000 records"
    assert plural(1, "unread offset", "1") == "1 unread offset"
