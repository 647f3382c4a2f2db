"""A fixed sample of recorded changes: rules and twin run together are right on each."""

import sys
from pathlib import Path

import pytest

from support.waiting import PATIENCE

ROOT = Path(__file__).parents[3]
sys.path.append(str(ROOT / "scripts"))
from twin_corpus import FRESH, KEPT, Runner, cases, is_right  # noqa: E402

pytestmark = [pytest.mark.spark, pytest.mark.timeout(4 * PATIENCE)]

SAMPLE = (
    "agg_add_column", "agg_key_remove", "agg_key_rename", "agg_key_reorder_same_type",
    "agg_map_add", "agg_min_to_max", "agg_sum_to_avg", "agg_sum_to_count", "conf_offsetlog_v1",
    "conf_rocksdb_format", "dedup_cols_add", "dedup_to_agg", "evo_named_add",
    "join_inner_to_left", "limit_add", "limit_change", "static_join_added", "static_join_key",
    "win_tumbling_to_session", "wm_shorter",
)  # fmt: skip


# To Catalyst's text the two tables are one; the streams of a union differ by a named one; the
# checkpoint pins the format of a join's state.
OTHERS = {
    "static_key_of_other_table": "fourth",
    "evo_named_union_added": "fourth",
    "jsf_2_to_4": "arbitrary_state",
}


@pytest.fixture(scope="module")
def runner(tmp_path_factory):
    made = Runner(tmp_path_factory.mktemp("twins"), seconds=3 * PATIENCE)
    yield made
    made.close()


@pytest.mark.parametrize(
    "name", [*SAMPLE, *(pytest.param(name, marks=pytest.mark.long) for name in OTHERS)]
)
def test_rules_and_twin_are_right(runner, name):
    corpus = FRESH / OTHERS[name] if name in OTHERS else KEPT / "spark"
    (case,) = cases(corpus, (name,))
    found = runner.score(case)
    assert found.twin != "error", found.why
    assert is_right(found.recorded, found.both), found


def test_the_sample_is_whole():
    assert [case.name for case in cases(KEPT / "spark", SAMPLE)] == sorted(SAMPLE)
