"""Every plan states what it and its undo do to outputs; the statements are declared as data."""

from __future__ import annotations

import string
from dataclasses import replace
from itertools import chain, combinations

import pytest

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine, Sink, Version
from headgate.reprocess.output_effects import Fact, OutputEffects
from headgate.reprocess.plan import RESET, UNDO, Plan
from headgate.reprocess.scenario import Answer, PlanRequest
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.reprocess.scenarios.shared.output_facts import facts_of
from headgate.reprocess.scenarios.shared.output_statements import STATEMENTS
from headgate.reprocess.scenarios.shared.output_topics import _unknown
from headgate.reprocess.scenarios.shared.start_from_offsets import _is_repeated
from headgate.reprocess.steps.checkpoint.source_succession import Begun, Way
from headgate.reprocess.steps.offsets.abort_transaction import AbortTransaction
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.views.reports.plan_outputs import output_lines, what_remains

CELLS = [
    (name, engine)
    for name, scenario in SCENARIOS.items()
    for engine in Engine
    if scenario.support[engine].answer is not Answer.REFUSED
] + [(RESET, Engine.KAFKA_STREAMS)]
SUBSETS = [frozenset(f) for f in chain.from_iterable(combinations(Fact, n) for n in range(3))]
MOST_WORDS = 18
FINAL = AbortTransaction(transaction="t", producer=1, epoch=0, topics={})


@pytest.mark.parametrize(("name", "engine"), CELLS, ids=lambda v: str(v))
def test_whatever_is_true_of_a_plan_it_says_something_of_itself_and_of_its_undo(name, engine):
    declared = STATEMENTS[name, engine].statements
    for facts in (*SUBSETS, frozenset(Fact)):
        true = [s for s in declared if s.when <= facts and not s.unless & facts]
        assert any(s.run for s in true), f"it says nothing where {sorted(facts)}"
        assert any(s.undo for s in true), f"its undo says nothing where {sorted(facts)}"


def test_nothing_is_declared_that_is_no_plan():
    assert set(STATEMENTS) == set(CELLS)


def test_a_fact_that_no_statement_needs_is_not_asked_for():
    every = [s for declared in STATEMENTS.values() for s in declared.statements]
    assert set().union(*(s.when | s.unless for s in every)) == set(Fact)


def test_statements_are_whole_short_sentences():
    for declared in STATEMENTS.values():
        for text in (t for s in declared.statements for t in (s.run, s.undo) if t):
            assert text[0].isupper() or text.startswith("{name}"), text
            assert text.endswith("."), text
            gaps = {name for _, name, _, _ in string.Formatter().parse(text) if name}
            assert gaps <= {"name", "to", "point"}, text
            # It may be several outputs, or "the pipeline's outputs".
            assert not any(s.startswith("{to}") for s in text.split(". ")), text
            for sentence in text.replace("auto.offset.reset", "x").split(". "):
                assert len(sentence.split()) <= MOST_WORDS, sentence


def test_what_a_builder_states_comes_first_and_each_sentence_once():
    mine = OutputEffects(run=("Mine.", "Both."), undo=("Back.",))
    declared = OutputEffects(run=("Both.", "Declared."), remains=True)
    assert mine.joined(declared) == OutputEffects(
        run=("Mine.", "Both.", "Declared."), undo=("Back.",), remains=True
    )


@pytest.mark.parametrize(
    ("remains", "steps", "said"),
    [
        (True, (), "results"),
        (True, (FINAL,), "1 step and results"),
        (False, (FINAL,), "1 step"),
        (False, (), ""),
    ],
)
def test_nothing_is_never_said_to_be_all_that_an_undo_leaves(remains, steps, said):
    outputs = OutputEffects(remains=remains)
    plan = Plan(scenario="s", pipeline="p", steps=(RecordOffsets(group="g"), *steps))
    assert what_remains(replace(plan, outputs=outputs)) == said


def test_each_sentence_is_a_line_of_the_plan_s_text_and_an_undo_s_own():
    outputs = OutputEffects(run=("One.", "Two."), undo=("Three.",))
    plan = Plan(scenario="s", pipeline="p", outputs=outputs)
    lines = list(output_lines(plan))
    assert lines == [
        ("Outputs", "One."), ("Outputs", "Two."), ("Outputs after an undo", "Three."),
    ]  # fmt: skip
    assert list(output_lines(replace(plan, scenario=UNDO)))[-1] == (
        "Outputs after you undo this undo",
        "Three.",
    )


def test_no_sentence_begins_with_an_output_that_may_be_unnamed():
    for declared in STATEMENTS.values():
        for one in declared.statements:
            assert "{to} " not in [t[:5] for text in (one.run, one.undo) for t in text.split(". ")]


BY_BATCH = [c for c, d in STATEMENTS.items() if any(Fact.DELTA in s.when for s in d.statements)]


@pytest.mark.parametrize(("name", "engine"), BY_BATCH, ids=lambda v: str(v))
@pytest.mark.parametrize("is_delta", [False, True])
def test_a_sink_that_drops_batch_numbers_gets_nothing_twice_after_an_undo(name, engine, is_delta):
    """Delta's RESTORE keeps the numbers, so that a restored table lacks results for good."""
    facts = frozenset({Fact.BY_BATCH, *([Fact.DELTA] if is_delta else [])})
    true = [s for s in STATEMENTS[name, engine].statements if s.when <= facts]
    said = " ".join(s.undo for s in true if not s.unless & facts)
    assert "a second time" not in said
    assert ("Before the undo, restore {to}" in said) is not is_delta
    assert ("with --new-query-id" in said) is is_delta


def test_a_delta_table_is_known_by_the_stored_version():
    pipeline = Pipeline(name="q", engine=Engine.SPARK)
    version = Version(engine=Engine.SPARK, sink=Sink(format="delta", target="/t"))
    request = PlanRequest(scenario="bounded", pipeline=pipeline, inspector=None, version=version)
    facts = facts_of(request, Plan(scenario="bounded", pipeline="q"))
    assert {Fact.BY_BATCH, Fact.DELTA} <= facts


@pytest.mark.parametrize(
    ("sink", "said", "way"),
    [
        (Sink(format="delta", target="/t"), "q writes to sink delta, but", "--outputs=keep"),
        # A kept table would drop the results: batch numbers begin at 0 again.
        (Sink(format="hudi", target="/t"), "q writes to sink hudi, but", "--output-path FOLDER"),
        (Sink(format="foreachBatch"), "the outputs of q are unknown: pass its output", "its sink"),
        (None, "the outputs of q are unknown: pass its output topics", "its sink"),
    ],
)
def test_the_rows_of_a_table_are_no_unknown_topics(sink, said, way):
    pipeline = Pipeline(name="q", engine=Engine.SPARK)
    version = Version(engine=Engine.SPARK, sink=sink)
    asked = PlanRequest(scenario="from-scratch", pipeline=pipeline, inspector=None, version=version)
    assert _unknown(asked).startswith(said) and _unknown(asked).endswith(way)


def test_an_uncommitted_batch_that_the_query_skips_is_not_reprocessed():
    def begun(to):
        return Begun(ways=[Way(source="0", topic="t", partition=0, was=5, to=to)])

    assert [_is_repeated(begun(to)) for to in (3, 5, 9)] == [True, True, False]
