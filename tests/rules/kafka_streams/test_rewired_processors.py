"""Upgrades that only connect processors of the Processor API otherwise: with inputs and stores."""

import random

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import ChangeKind, Outcome, Report, StateEffect
from rules.kafka_streams.applications import application

R, U, W = Outcome.RESUMES, Outcome.UNKNOWN, Outcome.SILENTLY_WRONG
_TEXTS = {
    "source": "    Source: {0} (topics: [{1}])",
    "processor": "    Processor: {0} (stores: [{1}])",
    "sink": "    Sink: {0} (topic: {1})",
}
S, S2 = ("source", "in", ""), ("source", "in2", "")


def processor(inputs: str, store: str = "") -> tuple[str, str, str]:
    return "processor", store, inputs


def sink(inputs: str, topic: str = "out") -> tuple[str, str, str]:
    return "sink", topic, inputs


def described(nodes: dict[str, tuple[str, str, str]]) -> str:
    """Return the description of nodes by name: kind, topic or store, and the names that feed it."""
    lines = ["Topologies:", "   Sub-topology: 0"]
    for name, (kind, of, inputs) in nodes.items():
        below = [n for n, node in nodes.items() if name in node[2].split()]
        lines.append(_TEXTS[kind].format(name, of))
        lines += [f"      --> {', '.join(below) or 'none'}"] if kind != "sink" else []
        lines += [f"      <-- {', '.join(inputs.split())}"] if inputs else []
    return "\n".join(lines) + "\n"


def judged(folder, before, after) -> Report:
    topics = {"in": 2, "in2": 2, "in3": 2}
    old, new = (
        application(folder / str(i), described(nodes), {}, topics)
        for i, nodes in enumerate((before, after))
    )
    return compare(old, new)


def test_a_processor_that_reads_from_another_one_changes_what_its_store_gets(tmp_path):
    before = {
        "s": S,
        "p1": processor("s", "shared"),
        "p2": processor("s", "shared"),
        "k": sink("p1 p2"),
    }
    after = before | {"p2": processor("p1", "shared"), "k": sink("p2")}
    report = judged(tmp_path, before, after)
    assert [(c.kind, c.what) for c in report.changes] == [
        (ChangeKind.CHANGED, "stateful processor p2: input in -> p1"),
        (ChangeKind.CHANGED, "sink out: input p1, p2 -> p2"),
    ]
    (finding,) = report.findings
    assert (finding.rule, finding.outcome) == ("KST011", R)
    assert finding.state_effect is StateEffect.MIXED


def test_an_exchange_of_inputs_is_found_where_operators_and_topics_are_the_same(tmp_path):
    before = {
        "s": S,
        "s2": S2,
        "p1": processor("s", "shared"),
        "p2": processor("s2", "shared"),
        "k": sink("p1 p2"),
    }
    after = before | {"p1": processor("s2", "shared"), "p2": processor("s", "shared")}
    (finding,) = judged(tmp_path, before, after).findings
    assert (finding.rule, finding.state_effect) == ("KST011", StateEffect.MIXED)
    assert finding.before == ["in -> p1", "in2 -> p2"]
    assert finding.after == ["in -> p2", "in2 -> p1"]


@pytest.mark.parametrize(
    "after",
    [
        {"p1": processor("s", ""), "p2": processor("s", "a")},
        {"p1": processor("s", "b"), "p2": processor("s", "a")},
    ],
    ids=["handed over", "exchanged"],
)
def test_a_store_of_another_processor_is_asked_about(after, tmp_path):
    other = "b" if after["p1"][1] else ""
    before = {"s": S, "p1": processor("s", "a"), "p2": processor("s", other), "k": sink("p1 p2")}
    report = judged(tmp_path, before, before | after)
    assert report.outcome is U
    told = [f for f in report.findings if f.rule == "KST013"]
    assert ("p1", "p2") in {(f.before, f.after) for f in told}


def test_processors_that_exchange_only_their_names_keep_their_stores(tmp_path):
    before = {
        "s": S,
        "s2": S2,
        "p1": processor("s", "a"),
        "p2": processor("s2", "b"),
        "k": sink("p1 p2"),
    }
    after = before | {"p1": processor("s2", "b"), "p2": processor("s", "a")}
    assert judged(tmp_path, before, after).outcome is R


def test_a_new_order_of_merged_streams_is_no_change_of_what_a_store_gets(tmp_path):
    def merged(first: str, second: str, third: str):
        return {
            "s": S,
            "s2": S2,
            "s3": ("source", "in3", ""),
            "KSTREAM-MERGE-0000000003": processor(f"{first} {second}"),
            "KSTREAM-MERGE-0000000004": processor(f"KSTREAM-MERGE-0000000003 {third}"),
            "fill": processor("KSTREAM-MERGE-0000000004", "a"),
            "k": sink("fill"),
        }

    report = judged(tmp_path, merged("s", "s2", "s3"), merged("s", "s3", "s2"))
    assert report.findings == ()
    assert {c.kind for c in report.changes} == {ChangeKind.CHANGED}


@pytest.mark.parametrize("seed", range(25))
def test_any_other_connection_is_a_change(seed, tmp_path):
    """No two versions with different edges are the same."""
    rng = random.Random(seed)

    def wired():
        names = [f"p{i}" for i in range(5)]
        nodes = {"s": S, "s2": S2}
        for name in names:
            count = rng.choice((1, 1, 2))
            nodes[name] = processor(" ".join(rng.sample([*nodes], count)))
        return nodes | {"k": sink(" ".join(rng.sample(names, 2)))}

    def edges(version):
        return {n: {*node[2].split()} for n, node in version.items()}

    before = after = wired()
    while edges(after) == edges(before):
        after = wired()
    assert judged(tmp_path, before, after).changes
