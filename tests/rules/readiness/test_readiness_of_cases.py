"""Readiness of real evidence: no case breaks it, and what it says names what is there."""

from dataclasses import replace
from pathlib import Path

import pytest

from headgate.errors import HeadgateError
from headgate.parse.evidence.version_file import fingerprint
from headgate.rules.readiness.check import check
from headgate.usecases.evidence.read_version import read_version

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
MEASURED = [
    # A watermark on the window's column closes windows; without one nothing does.
    ("spark/wm_add/before", "RDY010", True),
    ("spark/wm_add/after", "RDY010", False),
    ("spark/join_wm_removed/before", "RDY010", False),
    ("spark/join_wm_removed/after", "RDY010", True),
    # A watermark alone lets a deduplication by other columns keep every key (measured).
    ("spark/dedup_wm_added/after", "RDY010", True),
    ("spark/dedup_to_within_wm/after", "RDY010", False),
    ("spark/agg_group_to_global/after", "RDY011", False),
    ("spark/kafka_topic_recreated_nofail/before", "RDY020", True),
    ("spark/kafka_starting_offsets/before", "RDY020", False),
    ("spark/ck_rewind_oldest_retained/before", "RDY033", True),
    ("spark/conf_shuffle_partitions_offsetlog_v2_fewer/before", "RDY014", True),
    ("spark/evo_named_reorder_v1log_uneven/before", "RDY004", True),
    ("kafka_streams/U02a_insert_mapvalues_unnamed/before", "RDY001", True),
    ("kafka_streams/U03_insert_named/before", "RDY001", False),
    ("kafka_streams/U21a_alos_to_eos/before", "RDY083", True),
    ("kafka_streams/U21a_alos_to_eos/after", "RDY083", False),
    ("kafka_streams/U22g_group_streams_name_shift/before", "RDY086", True),
    ("kafka_streams/U22b_group_classic_to_streams_live/before", "RDY086", False),
]
FOLDERS = sorted(
    str(f)
    for pattern in ("cases/spark/*/*", "cases/kafka_streams/*/*", "golden/checkpoints/*",
                    "golden/streams/*/*", "golden/spark/*/*")
    for f in ROOT.glob(pattern)
    if f.is_dir() or f.suffix == ".txt"
)  # fmt: skip


# Every sixth of all, so that the tests stay quick, and what is asked for below.
READ = sorted({*FOLDERS[::6], *(str(ROOT / "cases" / case) for case, *_ in MEASURED)})


@pytest.fixture(scope="module")
def reports():
    """{place: (version, report)} of what can be read."""
    out = {}
    for place in READ:
        try:
            version = read_version([place])
        except HeadgateError:
            continue
        out[place] = version, check(version)
    return out


def said(reports, case):
    return {f.rule for f in next(r for p, (_, r) in reports.items() if p.endswith(case)).findings}


def test_every_finding_is_whole_and_its_node_is_there(reports):
    assert len(reports) > 100
    for place, (version, report) in reports.items():
        for found in report.findings:
            assert found.location is None or version.topology.node(found.location), (place, found)
            assert found.what and found.remedy and found.why and found.source
            assert "None" not in found.what and "()" not in found.what.replace(".()", ""), found


@pytest.mark.parametrize(("case", "rule", "fires"), MEASURED)
def test_what_is_said_of_a_measured_case(reports, case, rule, fires):
    assert (rule in said(reports, case)) is fires


def test_where_a_query_keeps_its_checkpoint_is_read_from_its_plan(reports):
    version, _ = next(v for p, v in reports.items() if p.endswith("wm_add/before"))
    assert version.checkpoint == "file:/data/wm_add/main/ckpt"
    moved = replace(version, checkpoint="s3a://elsewhere")
    assert fingerprint(moved) == fingerprint(version)
