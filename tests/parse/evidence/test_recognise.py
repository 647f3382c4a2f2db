"""Files are known by their content."""

import pytest

from headgate.errors import EvidenceError, ParseError
from headgate.model.evidence_kinds import EvidenceKind
from headgate.model.topology import Edge, Node, NodeKind, Topology
from headgate.model.version import Engine, Version
from headgate.parse.evidence import version_file
from headgate.parse.evidence.assemble import Gathered, assemble
from headgate.parse.evidence.recognise import not_read_yet, recognise
from headgate.parse.spark.checkpoint.checkpoint import Checkpoint

PLAN = b"== Physical Plan ==\nFileScan json [k#1]\n"
PROGRESS = b'{"id":"q1","runId":"r","name":"orders","batchId":1,"sources":[],"sink":{}}'
OTHER = PROGRESS.replace(b"q1", b"q2").replace(b"orders", b"other")
CASES = [
    (PLAN, EvidenceKind.EXPLAIN),
    (PROGRESS, EvidenceKind.PROGRESS),
    (b"[" + PROGRESS + b"]", EvidenceKind.PROGRESS),
    (PROGRESS + b"\n" + PROGRESS, EvidenceKind.PROGRESS),
    (b'{"sources":[],"sink":{"format":"x"},"output_mode":"Append"}', EvidenceKind.CAPTURE),
    (b'{"error":"AnalysisException: no"}', EvidenceKind.CAPTURE),
    (b'{"spark.sql.ansi.enabled":true}', EvidenceKind.SETTINGS),
    (b"{}", EvidenceKind.SETTINGS),
    (version_file.dump(Version(engine=Engine.SPARK)), EvidenceKind.VERSION),
]


@pytest.mark.parametrize(
    ("data", "kind"), CASES, ids=[f"{k}-{n}" for n, (_, k) in enumerate(CASES)]
)
def test_kinds(data, kind):
    assert recognise(data, path="x").kind is kind


@pytest.mark.parametrize("data", [b"", b"import os\n", b"\0\1\2", b"[1]", b'{"a":"b"}', b"{"])
def test_nothing_known(data):
    assert recognise(data, path="x") is None


def gathered(*datas):
    return Gathered(pieces=[recognise(d, path=f"f{n}") for n, d in enumerate(datas)])


def test_several_queries_need_one_to_be_named():
    found = gathered(PROGRESS + b"\n" + OTHER)
    with pytest.raises(EvidenceError, match="--query:\norders\nother"):
        assemble(found)
    assert assemble(found, query="other").query_id == "q2"
    assert assemble(found, query="q1").name == "orders"
    with pytest.raises(EvidenceError, match="no query 'third'"):
        assemble(found, query="third")


def test_a_version_file_is_completed():
    stored = Version(engine=Engine.SPARK, name="orders", query_id="q9")
    version = assemble(gathered(PLAN, version_file.dump(stored)))
    assert (version.name, version.query_id, len(version.sources)) == ("orders", "q9", 1)
    with pytest.raises(EvidenceError, match="kafka-streams"):
        assemble(gathered(PLAN, version_file.dump(Version(engine=Engine.KAFKA_STREAMS))))


def test_a_damaged_version_file_says_where():
    data = version_file.dump(Version(engine=Engine.SPARK)).replace(b'"spark"', b'"sparc"')
    with pytest.raises(ParseError, match="f:"):
        recognise(data, path="f")


def test_the_sessions_refusal_is_kept():
    version = assemble(gathered(b'{"error":"[UNRESOLVED_COLUMN] no"}'))
    assert version.capture_error == "[UNRESOLVED_COLUMN] no"


@pytest.mark.parametrize("part", [b'"sources":5', b'"sources":[1]', b'"sources":[],"sink":"x"'])
def test_progress_of_another_shape_is_a_warning(part):
    broken = PROGRESS.replace(b'"sources":[],"sink":{}', part)
    version = assemble(gathered(PLAN, broken))
    assert "f1 looks like query progress, but can't be read" in version.warnings[0]


def test_several_checkpoints_are_several_queries():
    found = gathered(PROGRESS + b"\n" + OTHER)
    found.checkpoints = [(f"ck-{q}", Checkpoint(query_id=q)) for q in ("q2", "q1")]
    with pytest.raises(EvidenceError, match="2 queries: choose one with --query:\nother\norders"):
        assemble(found)
    assert (assemble(found, query="orders").query_id) == "q1"
    assert not assemble(found, query="orders").warnings
    found.checkpoints = [(f"ck-{n}", Checkpoint(query_id="q1")) for n in range(2)]
    assert assemble(found).warnings == ("several checkpoints: Headgate uses ck-0 and ignores ck-1",)


def test_progress_of_another_query_than_the_checkpoints_is_told():
    found = gathered(PROGRESS)
    found.checkpoints = [("ck", Checkpoint(query_id="q9"))]
    version = assemble(found)
    said = (
        "the query progress is from query q1, but the checkpoint is from query q9: check that both "
        "belong to the same pipeline"
    )
    assert said in version.warnings
    assert version.query_id == "q9"


LONG = b"9" * 5000


@pytest.mark.parametrize(
    "text",
    [
        b"== Physical Plan ==\nProject [k#%b AS n#%b]\n+- FileScan json [k#%b]\n",
        b"== Physical Plan ==\n*(1) HashAggregate(keys=[k#1], functions=[count(v#%b)])\n"
        b"+- Exchange hashpartitioning(k#1, %b)\n   +- FileScan json [k#1,v#%b]\n",
        b"== Physical Plan ==\nStateStoreSave [k#1], state info [ checkpoint = c, opId = %b,"
        b" numPartitions = %b], Append, %b, 2\n+- FileScan json [k#1]\n",
        b"== Analyzed Logical Plan ==\nRepartition %b, true\n+- Filter (k#%b > %b)\n"
        b"   +- Relation [k#1] json\n",
        "== Physical Plan ==\nCoalesce ²\n+- FileScan json [k#1]\n".encode(),
        "== Physical Plan ==\nExchange hashpartitioning(k#1, ²)\n+- FileScan json [k#1]\n".encode(),
    ],
)
def test_numbers_that_no_engine_writes_are_no_numbers(text):
    piece = recognise(text.replace(b"%b", LONG), path="plan.txt")
    assert assemble(Gathered(pieces=[piece])).topology.nodes


def test_json_with_a_number_that_no_engine_writes():
    assert recognise(b'{"a":' + LONG + b"}", path="x") is None
    assert "thousands of digits" in not_read_yet(b'{"a":' + LONG + b"}")
    node = b'{"class":"org.apache.spark.sql.catalyst.plans.logical.OneRowRelation"'
    node += b',"num-children":0}'
    piece = recognise(b"[" + node + b',{"a":' + LONG + b"}]", path="x")
    assert piece.kind is EvidenceKind.PLAN_JSON
    assert "ends early" in piece.warnings[0]


NODE = Node(id="a", kind=NodeKind.SINK, operator="sink", label="sink")


@pytest.mark.parametrize(
    ("topology", "said"),
    [
        (Topology((NODE,), (Edge("b", "a"),)), "an edge ends at the missing node 'b'"),
        (Topology((NODE, NODE)), "two nodes have the id 'a'"),
    ],
)
def test_a_version_file_whose_graph_is_none(topology, said):
    data = version_file.dump(Version(engine=Engine.SPARK, topology=topology))
    with pytest.raises(ParseError, match=said):
        recognise(data, path="version.json")
