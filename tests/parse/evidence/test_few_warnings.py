"""Thousands of warnings are told as a few; nothing is left out without a word."""

import pytest

from headgate.parse.evidence.few_warnings import IN_ALL, OF_A_KIND, few
from headgate.usecases.evidence.read_version import read_version


def test_a_few_stay_as_they_are():
    assert few(["a/1 is odd", "a/2 is odd", "a/1 is odd"]) == ("a/1 is odd", "a/2 is odd")


def test_many_of_one_kind_are_counted():
    kept = few([*(f"line {n}: operator 'x{n}' is not known" for n in range(50)), "other"])
    assert len(kept) == 22
    said = "and 30 more warnings of this kind, the last: line 49: operator 'x49' is not known"
    assert kept[19:] == ("line 19: operator 'x19' is not known", said, "other")


def test_many_kinds_are_counted_too():
    kept = few(chr(0x4E00 + n) for n in range(300))
    assert (len(kept), kept[-1]) == (IN_ALL + 1, "and 100 more warnings")


def test_a_long_one_is_cut():
    (kept,) = few(["x" * 5000])
    assert (len(kept), kept[-1]) == (1001, "…")


def test_a_folder_of_a_thousand_pictures(tmp_path):
    scan = "FileScan json [k#1] Location: InMemoryFileIndex[file:/in], ReadSchema: struct<k:string>"
    (tmp_path / "plan.txt").write_text(f"== Physical Plan ==\n{scan}\n")
    for number in range(1000):
        (tmp_path / f"{number:04}.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\0")
    warnings = read_version([str(tmp_path)]).warnings
    assert len(warnings) == 21
    assert warnings[-1].startswith("and 980 more warnings of this kind, the last: ")
    assert warnings[-1].endswith("0999.png has an unknown format and was not read")


@pytest.mark.parametrize("inside", ["(" * 2_000_000, "[a," * 300_000])
def test_an_expression_without_end_is_read_as_words(tmp_path, inside):
    text = f"== Physical Plan ==\n*(1) Filter {inside}\n+- FileScan json [k#1]\n"
    (tmp_path / "plan.txt").write_text(text)
    assert read_version([str(tmp_path)]).topology.nodes


def test_an_operator_without_end_costs_a_short_warning(tmp_path):
    (tmp_path / "plan.txt").write_text("== Physical Plan ==\n" + "x" * 1_000_000)
    warnings = read_version([str(tmp_path)]).warnings
    assert warnings and all(len(w) <= 1001 for w in warnings)


def test_one_more_than_is_kept_of_a_kind_is_kept_as_well():
    lines = tuple(f"line {n}: unknown operator" for n in range(OF_A_KIND + 1))
    assert few(lines) == lines


def test_one_more_than_is_kept_at_all_is_one_warning():
    kept = few(f"{chr(n)} is odd" for n in range(0x4E00, 0x4E00 + IN_ALL + 1))
    assert kept[-1] == "and 1 more warning"
