"""The columns of `inline` are the fields of the structs, whatever the user calls them."""

from __future__ import annotations

from pathlib import Path

from headgate.usecases.evidence.read_version import read_version

CASES = Path(__file__).parents[3] / "cases"
CASE = CASES / "spark_pulls_fifth" / "cinema_seats_filtered_in_array"


def keys(folder: Path) -> tuple[str, ...] | None:
    (operator,) = read_version([str(folder)]).stateful
    return operator.keys


def test_inline_of_a_filtered_array_gives_what_explode_and_a_dot_give() -> None:
    # After: inline(filter(seats, ...)) AS (seat_row, seat_no).
    assert "explode(s0.seats).row" in (keys(CASE / "before") or ())
    assert keys(CASE / "after") == keys(CASE / "before")
