"""What keeps the name of a store, by the operator that fills the store."""

import pytest

from headgate.rules.compare.compare_versions import compare
from rules.kafka_streams.applications import application, upgrade

COUNT = "KSTREAM-AGGREGATE-STATE-STORE-0000000001"
FORWARD, BACK = ("before", "after"), ("after", "before")

SUPPRESS = """Topologies:
   Sub-topology: 0
    Source: KSTREAM-SOURCE-0000000000 (topics: [in])
      --> KSTREAM-AGGREGATE-0000000002
    Processor: KSTREAM-AGGREGATE-0000000002 (stores: [counts])
      --> KTABLE-SUPPRESS-0000000003
      <-- KSTREAM-SOURCE-0000000000
    Processor: KTABLE-SUPPRESS-0000000003 (stores: [STORE-NAME])
      --> KTABLE-TOSTREAM-0000000005
      <-- KSTREAM-AGGREGATE-0000000002
    Processor: KTABLE-TOSTREAM-0000000005 (stores: [])
      --> KSTREAM-SINK-0000000006
      <-- KTABLE-SUPPRESS-0000000003
    Sink: KSTREAM-SINK-0000000006 (topic: out)
      <-- KTABLE-TOSTREAM-0000000005
"""


def remedies(folder, name, sides, rule="KST001"):
    report = upgrade(folder, name, sides=sides)
    return {str(f.before).partition(":")[0]: f.remedy for f in report.findings if f.rule == rule}


@pytest.mark.parametrize(
    ("name", "sides", "store", "how"),
    [
        ("unnamed_count_named", FORWARD, COUNT, f'Use Materialized.as("{COUNT}").'),
        (
            "unnamed_stream_join_filter_in_front",
            FORWARD,
            "KSTREAM-JOINTHIS-0000000004-store",
            "with the name KSTREAM-JOINTHIS-0000000004-store to StreamJoined.withThisStoreSupplier",
        ),
        (
            "named_stream_join_inner_to_outer",
            FORWARD,
            "j-other-join-store",
            "with the name j-other-join-store to StreamJoined.withOtherStoreSupplier.",
        ),
        (
            "named_stream_join_inner_to_outer",
            BACK,
            "j-outer-other-join-store",
            'Use StreamJoined.withStoreName("j-outer").',
        ),
    ],
)
def test_the_remedy_names_the_call_that_sets_this_name(name, sides, store, how, tmp_path):
    remedy = remedies(tmp_path, name, sides)[store]
    assert how in remedy
    assert ("Materialized" in remedy) == ("Materialized" in how)


def test_a_generated_name_of_a_buffer_can_only_come_from_the_order_of_the_code(tmp_path):
    store = "KTABLE-SUPPRESS-STATE-STORE-0000000003"
    remedy = remedies(tmp_path, "unnamed_suppress_shifts", FORWARD)[store]
    assert remedy.startswith(f"The code can't set the name {store}. Keep the number of operators")
    assert "withName" not in remedy


@pytest.mark.parametrize(
    ("after", "how"),
    [
        ("b-store", 'Use Suppressed.withName("a").'),
        ("KTABLE-SUPPRESS-STATE-STORE-0000000004", 'Use Suppressed.withName("a").'),
    ],
)
def test_the_buffer_of_a_suppress_gets_its_name_from_the_operator(after, how, tmp_path):
    assert how in _buffer_renamed(tmp_path, "a-store", after)


def test_a_buffer_that_gets_a_name_is_emptied_first(tmp_path):
    remedy = _buffer_renamed(tmp_path, "KTABLE-SUPPRESS-STATE-STORE-0000000004", "a-store")
    assert "the buffer is empty" in remedy and "withName" not in remedy


def _buffer_renamed(folder, before, after):
    old, new = (
        application(folder / store, SUPPRESS.replace("STORE-NAME", store), {}, {"in": 2})
        for store in (before, after)
    )
    (finding,) = (f for f in compare(old, new).findings if f.rule == "KST001")
    return finding.remedy


def test_a_name_goes_back_to_the_store_that_had_it(tmp_path):
    told = remedies(tmp_path, "named_stores_swapped", FORWARD, rule="KST002")
    assert 'Use Materialized.as("one").' in told["one"]
    assert 'Use Materialized.as("two").' in told["two"]
