"""Samples from files and from a real topic: only read, and never shown."""

import json

import pyarrow
import pytest
from pyarrow import parquet

from headgate.errors import EvidenceError, NotFoundError
from headgate.usecases.context import open_context
from headgate.usecases.rehearsal.twin_sample import SampleWish, sampled_rows

ORDERS = {
    "folder": "f", "kind": "json", "location": "/data/orders",
    "schema": {"fields": [{"name": "k", "type": "string"}, {"name": "v", "type": "integer"}]},
}  # fmt: skip
ROWS = [{"k": "Ada", "v": 1}, {"k": "Bob", "v": 2}]


def test_json_lines_csv_and_parquet_are_the_same_rows(tmp_path):
    (tmp_path / "a").write_text("".join(f"{json.dumps(r)}\n" for r in ROWS))
    (tmp_path / "b").write_text("k,v\nAda,1\nBob,2\n")
    parquet.write_table(pyarrow.Table.from_pylist(ROWS), tmp_path / "c")
    for name in "abc":
        assert sampled_rows(SampleWish((str(tmp_path / name),)), [ORDERS], None) == {"f": ROWS}


@pytest.mark.parametrize(
    ("text", "given", "said"),
    [
        ('{"k": 1}\n[]\n', "{file}", ":2: expected one JSON object in each line"),
        ("other\n1\n", "{file}", "has none of the columns of source /data/orders .k, v."),
        ("k\n1\n", "order={file}", "has no source order.*orders"),
        ("k\n1\n", "/no/such/file", "can't be read: No such file or directory. Check the path"),
        ("PAR1 and no more", "{file}", "can't be read as a sample"),
    ],
)
def test_a_sample_that_fits_nothing_is_one_sentence(tmp_path, text, given, said):
    (tmp_path / "s").write_text(text)
    with pytest.raises(EvidenceError, match=said):
        sampled_rows(SampleWish((given.format(file=tmp_path / "s"),)), [ORDERS], None)


def test_several_sources_need_a_name(tmp_path):
    (tmp_path / "s").write_text("k\nAda\n")
    sources = [ORDERS, ORDERS | {"folder": "g", "location": "/data/refunds"}]
    with pytest.raises(EvidenceError, match=r"SOURCE is one of /data/orders, /data/refunds"):
        sampled_rows(SampleWish((str(tmp_path / "s"),)), sources, None)
    found = sampled_rows(SampleWish((f"refunds={tmp_path / 's'}",)), sources, None)
    assert found == {"g": [{"k": "Ada"}]}


@pytest.mark.kafka
def test_the_newest_records_of_each_partition_are_read_without_a_group(
    team, topic, unique, groups, produce
):
    orders, group = topic("orders", partitions=2), unique("sampled")
    for partition in (0, 1):
        produce(orders, [f"{partition}-{n}" for n in range(10)], partition=partition)
    team.register(f'[[pipeline]]\nname = "sampled"\nengine = "consumer-group"\ngroup = "{group}"\n')
    context = open_context(str(team.folder / "headgate.toml"))
    kinds = {"value": "binary", "topic": "string", "offset": "long"}
    schema = {"fields": [{"name": n, "type": t} for n, t in kinds.items()]}
    source = {"folder": "f", "kind": "kafka", "location": orders, "schema": schema}
    found = sampled_rows(SampleWish(pipeline="sampled", records=3), [source], context)
    values = sorted(row["value"] for row in found["f"])
    assert len(values) == 6 and {row["topic"] for row in found["f"]} == {orders}
    assert groups.committed(group) == {}
    with pytest.raises(NotFoundError, match="no pipeline nothing"):
        sampled_rows(SampleWish(pipeline="nothing"), [source], context)
