"""The chart of a run's partitions: read and left by partition, in the order of topics."""

from headgate.views.charts.partition_progress import (
    MOST,
    partitions_figure,
    reading_words,
    shown_partitions,
)

PARTS = {"a[10]": (0, 10, 40), "a[9]": (5, 25, 25), "b.c[0]": (7, 7, 7)}


def test_a_bar_has_what_is_read_and_what_is_left():
    read, left = partitions_figure(PARTS).data
    # By number, not by the text; a partition without records has no bar.
    assert [t.split(":")[0] for t in read.hovertext] == ["a[9]", "a[10]"]
    assert (list(read.x), list(left.x)) == ([20, 10], [0, 30])
    assert list(left.text) == ["100%", "25%"]
    assert "at offset 25" in read.hovertext[0]
    assert reading_words(PARTS) == "30 of 60 offsets read, 2 of 3 partitions complete"


def test_of_many_partitions_those_with_the_most_left_are_shown():
    parts = {f"t[{n}]": (0, n, 100) for n in range(MOST + 20)}
    assert shown_partitions(parts) == [f"t[{n}]" for n in range(MOST)]
    assert reading_words(parts).endswith(
        f"(the chart shows the {MOST} partitions with the most unread offsets)"
    )
