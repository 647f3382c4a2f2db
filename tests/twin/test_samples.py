"""Sampled rows stand among generated ones, and none of their values is shown."""

import base64
import json

import pytest

from headgate.model.twin import Counterexample, FailedStart, TwinVerdict
from headgate.text.secrets import MASK
from headgate.twin.generate_rows import RowMaker, SourceRows
from headgate.twin.row_hints import Hints
from headgate.twin.samples import Origins, fitted

SCHEMA = {
    "fields": [
        {"name": "k", "type": "string"},
        {"name": "v", "type": "integer"},
        {"name": "at", "type": "timestamp"},
    ]
}
KAFKA = {
    "fields": [
        *({"name": n, "type": "binary"} for n in ("key", "value")),
        {"name": "offset", "type": "long"},
    ]
}
SOURCE = SourceRows("in", SCHEMA, True)


def made(sample):
    maker = RowMaker(Hints(), 1, samples={"in": sample})
    feed = maker.feed([SOURCE])
    return maker.origins, [row for batch in (*feed.a, *feed.b) for row in batch["in"]]


def test_more_than_half_of_the_rows_come_from_the_sample_with_other_times():
    origins, rows = made([{"k": "Ada", "v": 1999, "at": "2031-01-01T00:00:00Z"}])
    sampled = [r for r in rows if r["k"] == "Ada"]
    assert 0.4 < len(sampled) / len(rows) < 0.7
    assert all(r["at"] < "2025" and r["v"] == 1999 for r in sampled)
    assert {"ada", "1999"} <= origins.sampled and not {"ada", "1999"} & origins.generated


def test_times_inside_of_json_are_those_of_now():
    hints = Hints()
    hints.conversions["stream:value"] = {
        "type": "struct", "fields": [{"name": "at", "type": "timestamp"}]
    }  # fmt: skip
    sample = fitted([{"k": "Ada", "at": "2031-01-01 00:00:00"}], KAFKA)
    feed = RowMaker(hints, 1, samples={"in": sample}).feed([SourceRows("in", KAFKA, True)])
    values = [base64.b64decode(r["value"]) for b in feed.a for r in b["in"] if r["value"]]
    ada = [json.loads(v) for v in values if b"Ada" in v]
    assert len(ada) > 50 and all(v["at"] < "2025" for v in ada)


def test_a_record_of_kafka_is_taken_as_it_is_and_any_other_row_as_json():
    record, row = fitted([{"key": b"k1", "value": b"raw"}, {"k": "Ada"}], KAFKA)
    assert base64.b64decode(record["value"]) == b"raw"
    assert json.loads(base64.b64decode(row["value"])) == {"k": "Ada"}


def test_rows_are_typed_by_the_schema():
    assert fitted([{"k": "x", "v": " 12 ", "other": "y"}], SCHEMA) == [{"k": "x", "v": 12}]
    assert fitted([{"other": "y"}], SCHEMA) is None


def origins():
    found = Origins()
    found.note({"k": "Ada", "v": 1999}, is_sampled=True)
    found.note({"k": "k.7", "v": 3}, is_sampled=False)
    return found


def verdict(**fields):
    return TwinVerdict(outcome="silently_wrong", why="no", **fields)


@pytest.mark.parametrize(
    ("key", "before", "shown"),
    [
        ("Ada", 1999, (MASK, MASK, True)),
        ("k.7", 12, ("k.7", 12, False)),
        ("k.7", "Ada", ("k.7", MASK, True)),
        ("derived", 12, (MASK, MASK, True)),
    ],
)
def test_only_generated_values_are_shown(key, before, shown):
    example = Counterexample(kind="state", key={"k": key}, before=before, after=None)
    found = origins().masked(verdict(counterexample=example)).counterexample
    assert (found.key["k"], found.before, found.masked) == shown


def test_rows_of_output_are_shown_if_all_their_text_is_generated():
    example = Counterexample(
        kind="output", key={}, before={"k": "Ada", "s": 1999}, after={"k": "k.7", "s": 4}
    )
    found = origins().masked(verdict(counterexample=example)).counterexample
    assert (found.before, found.after) == ({"k": MASK, "s": MASK}, {"k": "k.7", "s": 4})


def test_messages_lose_sampled_values():
    refusal = FailedStart(error_class="CAST", condition=None, message="The value 'ADA' is no INT")
    found = origins().masked(verdict(refusal=refusal))
    assert found.refusal.message == f"The value '{MASK}' is no INT"
    stars = Origins(sampled={"***", "a"})
    assert stars.masked(TwinVerdict(outcome="unknown", why="see *** and 'a' of a")).why == (
        f"see {MASK} and '{MASK}' of a"
    )
