"""The table of a matrix: counts per row, what is kept, and what is dropped."""

import pytest

from scenes import scene
from scenes.fault_table import Result, Table, key
from scenes.faults import Cell

KIND = scene("from-point-group")


def cell(location, *, fault="kill -9", recovery="next worker"):
    return Cell(KIND, fault, location, recovery)


CELLS = [cell("step 0: before begin"), cell("step 0: after done"), cell("step 1: after done")]


@pytest.fixture
def file(tmp_path):
    return tmp_path / "faults.md"


@pytest.fixture
def table(file):
    made = Table(file, [KIND.name])
    made.expect(KIND.name, CELLS)
    return made


def rows(file):
    lines = file.read_text().partition(f"## {KIND.name}")[2].splitlines()
    return [[c.strip() for c in line.strip("|").split("|")] for line in lines if "step" in line]


def test_a_row_says_how_many_of_its_cells_were_run(table, file):
    table.add(Result(CELLS[0], 1))
    first, second = rows(file)
    assert first[:6] == ["kill -9", "step 0", "next worker", "1", "2", "1"]
    assert second[3:] == ["0", "1", "0", "–", "–", "–"]
    assert f"| {KIND.name} | 1 | 3 | 1 |" in file.read_text()
    assert not table.row(KIND.name, key(CELLS[0])).is_whole


def test_a_failure_is_counted_told_and_kept_in_one_line(table, file):
    table.add(Result(CELLS[0], 1))
    table.add(Result(CELLS[1], 1, "it read a|b twice\nand more"))
    (first, _) = rows(file)
    assert first[3:8] == ["2", "2", "**1**", "alone", "step 0: after done: it read a/b twice"]
    assert table.has_failures
    assert f"| {KIND.name} | 2 | 3 | **1** |" in file.read_text()


def test_the_next_run_goes_on_from_the_file(table, file):
    table.add(Result(CELLS[0], 1, "wrong"))
    table.add(Result(CELLS[2], 1))
    again = Table(file, [KIND.name])
    again.expect(KIND.name, CELLS)
    assert again.row(KIND.name, key(CELLS[2])).is_whole
    assert again.row(KIND.name, key(CELLS[0])).wrong == "step 0: before begin: wrong"
    again.add(Result(CELLS[0], 1))
    assert again.row(KIND.name, key(CELLS[0])).ok == 1
    assert not again.has_failures


def test_rows_of_steps_that_are_gone_or_have_other_cells_are_dropped(table, file):
    for each in CELLS:
        table.add(Result(each, 1))
    again = Table(file, [KIND.name])
    again.expect(KIND.name, CELLS[:1])
    assert [(r[1], r[3], r[4]) for r in rows(file)] == [("step 0", "0", "1")]
    Table(file, ["another"]).expect("another", [])
    assert KIND.name not in file.read_text()
