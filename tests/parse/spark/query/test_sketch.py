from headgate.model.topology import NodeKind
from headgate.model.version import OperatorKind, Sink, Source, StatefulOperator, StateStore
from headgate.parse.spark.query.topology import store_nodes
from headgate.parse.spark.query.topology_without_plan import WARNING, sketch
from headgate.parse.spark.state.operators import JOIN_STORES


def operator(number, kind=OperatorKind.AGGREGATE):
    store = StateStore(store="default", operator_id=number)
    return StatefulOperator(kind=kind, operator_id=number, stores=(store,))


def flows(drawn):
    """Return the pairs of operators and labels that edges join, stores left out."""
    by_id = {n.id: n for n in drawn.topology.nodes}
    return {
        (by_id[e.source].operator, by_id[e.target].operator)
        for e in drawn.topology.edges
        if by_id[e.target].kind is not NodeKind.STATE_STORE
    }


def test_one_source_and_two_operators_are_a_chain():
    operators = (operator(0), operator(1, OperatorKind.DEDUPLICATE))
    drawn = sketch([Source(position=0, format="kafka", topics=("t",))], operators, Sink())
    assert flows(drawn) == {
        ("kafka", "deduplicate"),
        ("deduplicate", "aggregate"),
        ("aggregate", "sink"),
    }
    assert drawn.warnings == (WARNING,)
    nodes = {n.id for n in drawn.topology.nodes}
    assert {o.node for o in drawn.operators} | {s.node for s in drawn.sources} <= nodes
    assert [n.operator for n in drawn.topology.nodes].count("state_store") == 2


def test_which_of_several_sources_feeds_which_operator_is_not_told():
    sources = [Source(position=n, format="kafka") for n in range(2)]
    drawn = sketch(sources, (operator(0),), None)
    assert flows(drawn) == {
        ("kafka", "unknown"),
        ("unknown", "aggregate"),
        ("aggregate", "sink"),
    }


def test_two_sources_of_a_lone_join_are_its_sides():
    sources = [Source(position=n, format="kafka") for n in range(2)]
    drawn = sketch(sources, (operator(0, OperatorKind.STREAM_JOIN),), None)
    assert flows(drawn) == {("kafka", "stream_join"), ("stream_join", "sink")}


def test_without_any_facts_the_sink_alone_is_drawn():
    drawn = sketch(None, None, None)
    assert [n.id for n in drawn.topology.nodes] == ["sink"]
    assert (drawn.sources, drawn.operators, drawn.warnings) == (None, None, ())


def stores(*names):
    return [n.id for n in store_nodes("op", [StateStore(store=s, operator_id=0) for s in names])]


def test_the_store_of_unknown_variables_has_the_id_of_the_first_known_one():
    (planned,) = stores("default")
    assert stores("$procTimers_keyToTimestamp", "c", "d")[1] == planned
    assert len({planned, *stores("c", "d"), *stores(*JOIN_STORES)}) == 6
