"""Which files a version of a state store is loaded from, and which one is missing."""

import pytest

from headgate.parse.spark.checkpoint.source_log import cut_entries
from headgate.parse.spark.checkpoint.state_versions import needed, version_of

WHOLE = [
    # names, version, snapshot, changes
    ("1.delta 2.delta 3.delta", 2, None, "1.delta 2.delta"),
    ("1.delta 2.delta 2.snapshot 3.delta", 3, "2.snapshot", "3.delta"),
    ("2.snapshot 3.delta 3.snapshot 4.delta", 3, "3.snapshot", ""),
    ("5.snapshot", 0, None, ""),
    ("1.zip 2.zip SSTs _metadata", 2, "2.zip", ""),
    ("1.changelog 2.changelog 2.zip 3.changelog", 3, "2.zip", "3.changelog"),
    ("1.zip 10.zip 2.changelog", 2, "1.zip", "2.changelog"),
]


@pytest.mark.parametrize(("names", "version", "snapshot", "changes"), WHOLE)
def test_what_a_version_is_loaded_from(names, version, snapshot, changes):
    found = needed(names.split(), version)
    assert found.missing is None
    assert (found.snapshot, found.changes) == (snapshot, tuple(changes.split()))


MISSING = [
    ("2.delta 3.delta", 3, "1.delta or 1.snapshot"),
    ("1.delta 3.delta", 3, "2.delta or 2.snapshot"),
    ("3.snapshot 4.delta", 2, "2.delta or 2.snapshot"),
    ("1.zip 3.zip", 2, "2.changelog or 2.zip"),
    ("", 1, "the file of version 1"),
]


@pytest.mark.parametrize(("names", "version", "missing"), MISSING)
def test_the_first_file_that_is_missing(names, version, missing):
    assert needed(names.split(), version).missing == missing


IDS = {1: ("aa-1",), 2: ("bb-2",)}


def test_ids_tell_which_try_of_a_version_counts():
    names = ["1_aa-1.changelog", "2_ff-9.changelog", "2_bb-2.changelog"]
    assert needed(names, 2, IDS).changes == ("1_aa-1.changelog", "2_bb-2.changelog")
    assert needed(names[:2], 2, IDS).missing == "2_bb-2.changelog or 2_bb-2.zip"
    # The commit that named the first one is cleaned up: its number alone tells.
    assert needed(names, 2, {2: ("bb-2",)}).missing is None
    # Files of the other format are none of this one.
    assert needed(["1.changelog", "2.changelog"], 2, IDS).missing is not None
    assert needed(names, 2).missing is not None


VERSIONS = [
    ("7.delta", 7),
    (".7.delta.crc", 7),
    ("7_0a-1b.zip.crc", 7),
    (".7_0a-1b.changelog.crc.crc", 7),
    ("..12.zip.e4a29457-3565.tmp.crc", 12),
    ("12.snapshot", 12),
    ("000012-0a1b.sst", None),
    ("_metadata", None),
    ("7.deltas", None),
]


@pytest.mark.parametrize(("name", "version"), VERSIONS)
def test_the_version_that_a_file_is_of(name, version):
    assert version_of(name) == version


def entry(*batches):
    return "\n".join(["v1", *(f'{{"path":"f{b}","batchId":{b}}}' for b in batches)]).encode()


def log(*names):
    """Entries by name; a compacted one has all before it."""
    return {
        n: entry(*range(int(n[:-8]) + 1)) if n.endswith(".compact") else entry(int(n))
        for n in names
    }


CUTS = [
    ("0 1 2 3", 2, "0 1 2"),
    ("0 1 2.compact 3 4 5.compact 6", 4, "0 1 2.compact 3 4"),
    # What came before a compacted entry is cleaned up after ten minutes: it is taken apart.
    ("5.compact 6", 4, "0 1 2 3 4"),
    ("5.compact 8.compact 9", 4, "2.compact 3 4"),
    ("5.compact 8.compact 9", 5, "5.compact"),
    ("9.compact 10", 4, "0 1 2 3 4"),
]


@pytest.mark.parametrize(("names", "last", "left"), CUTS)
def test_a_source_log_as_it_was(names, last, left):
    assert cut_entries(log(*names.split()), last) == log(*left.split())


def test_a_source_log_that_lost_an_entry():
    with pytest.raises(ValueError, match="entry 1 is missing in the log"):
        cut_entries(log("0", "2", "3"), 2)
