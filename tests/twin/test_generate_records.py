"""Generated records for two versions of a Kafka Streams application."""

from __future__ import annotations

import subprocess

import pytest

from headgate.errors import CaptureError
from headgate.gateway.process.java import java
from headgate.twin.class_words import words_of
from headgate.twin.generate_records import TopicRows, make_records

HOUR_MS = 3_600_000
ONE, TWO = TopicRows(name="one"), TopicRows(name="two", deletes=True)


def made(*topics, **more):
    return make_records(topics, **({"rows": 400, "seed": 7} | more))


def test_the_same_seed_gives_the_same_records_and_another_one_others():
    assert made(ONE, TWO) == made(ONE, TWO)
    assert made(ONE, TWO) != made(ONE, TWO, seed=8)


def test_topics_share_keys_and_each_has_its_own():
    feed = made(ONE, TWO)
    keys = {t: {r.key for r in feed.a if r.topic == t} for t in ("one", "two")}
    assert keys["one"] & keys["two"] and keys["one"] - keys["two"] and keys["two"] - keys["one"]


def test_values_are_keys_of_the_other_topic_half_of_the_time():
    feed = made(ONE, TWO)
    keys = {r.key for r in feed.a if r.topic == "two"}
    values = [r.value for r in feed.a if r.topic == "one"]
    assert 0.25 < sum(v in keys for v in values) / len(values) < 0.75


def test_only_tables_have_deletions():
    nulls = {r.topic for r in made(ONE, TWO).a if r.value is None}
    assert nulls == {"two"}


def test_b_meets_open_windows_of_a_and_ends_far_ahead():
    feed = made(ONE, TWO)
    assert 0 < min(r.timestamp for r in feed.b[:5]) - feed.a[-1].timestamp < 60_000
    assert feed.b[-1].timestamp - feed.a[-1].timestamp > 300 * 24 * HOUR_MS


def test_what_the_code_compares_with_is_a_key_and_a_value_in_both_parts():
    feed = made(ONE, literals=["paid"])
    for part in (feed.a, feed.b):
        assert any(r.key == b"paid" for r in part) and any(r.value == b"paid" for r in part)


def test_a_sample_gives_only_its_own_pairs():
    pairs = ((b"\x01", b"a"), (None, b"b"))
    feed = made(TopicRows(name="one", sample=pairs, partitions=2), literals=["x"])
    assert {(r.key, r.value) for r in (*feed.a, *feed.b)} == set(pairs)
    assert {r.partition for r in feed.b} == {-1, 0, 1}


def test_numbers_have_the_size_of_their_serde():
    feed = made(TopicRows(name="one", key="integer", value="long"))
    assert {(len(r.key), len(r.value)) for r in feed.a} == {(4, 8)}


def test_an_unknown_serde_asks_for_a_sample():
    with pytest.raises(CaptureError, match=r"serde avro.*--sample"):
        made(TopicRows(name="one", value="avro"))


JAVA = """
class Looks {
    static final String LOGGED = "not compared";
    static boolean paid(String v) { System.out.println("said"); return v.equals("paid"); }
    static boolean old(String v) { return "old".equals(v) || v.startsWith("ab-"); }
    static int of(String v) { switch (v) { case "many": return 1; default: return 0; } }
}
"""


@pytest.mark.slow
def test_compared_texts_are_read_from_compiled_classes(tmp_path):
    source = tmp_path / "Looks.java"
    source.write_text(JAVA)
    tool = ("-m", "jdk.compiler/com.sun.tools.javac.Main", "-d", str(tmp_path))
    subprocess.run([java(), *tool, str(source)], check=True)
    found = words_of([(tmp_path / "Looks.class").read_bytes()])
    assert sorted(found) == ["ab-", "many", "old", "paid"]


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04", b"\xca\xfe\xba\xbe\0\0\0\x40\xff\xff\x09"])
def test_what_is_no_class_has_no_texts(content):
    assert words_of([content]) == []
