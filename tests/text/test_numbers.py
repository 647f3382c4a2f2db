"""Numbers in sentences."""

from headgate.text.numbers import as_records, exact, plural


def test_a_plural_has_the_ending_of_its_word():
    assert [plural(n, "batch") for n in (0, 1, 2)] == ["0 batches", "1 batch", "2 batches"]
    assert plural(2000, "record", f"{2000:,}") == "2,000 records"
    assert plural(1, "unread offset", "1") == "1 unread offset"


def test_offsets_are_records_at_most():
    assert [as_records(n) for n in (0, 1, 3)] == ["0 records", "up to 1 record", "up to 3 records"]
    assert as_records(4000, exact(4000)) == "up to 4\u202f000 records"
