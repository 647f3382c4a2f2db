"""What a finding says and advises, by the branch that reaches it."""

from dataclasses import replace

import pytest

from headgate.model.output_columns import Parsed
from headgate.model.twin import Counterexample
from headgate.model.version import (
    CheckpointDamage,
    CheckpointDamageKind,
    OperatorKind,
    Sink,
    StatefulOperator,
)
from headgate.rules.compare.compare_versions import compare
from headgate.rules.compare.twin_findings import example_words, sentence
from headgate.rules.core.report import Outcome
from headgate.rules.spark.facts.version_identity import unrelated_versions
from rules import world_cases
from rules.build import PLAIN, TIME, WINDOWED, K, aggregate, files, kafka, sources, store, version

ASSIGNED = {"assign": '{"orders": [0]}'}
LOGGED = sources(kafka(offsets={"orders": {"0": 5, "1": 5}}))
WITH_STATE = StatefulOperator(
    kind=OperatorKind.TRANSFORM_WITH_STATE, operator_id=0, node="aggregate", keys=("s0.k",)
)
TOLD = replace(WITH_STATE, extra={"variables": {"c": {"type": "ValueState"}}})


def found(rule, before, after, **more):
    return next(f for f in compare(before, after, **more).findings if f.rule == rule)


@pytest.mark.parametrize(
    "kind",
    [
        CheckpointDamageKind.NO_METADATA,
        CheckpointDamageKind.NO_PREDECESSOR,
        CheckpointDamageKind.COMMIT_WITHOUT_OFFSETS,
        CheckpointDamageKind.UNREADABLE,
    ],
)
def test_a_damaged_checkpoint_is_repaired_and_its_uncommitted_batch_is_left_alone(kind):
    damaged = replace(PLAIN, faults=(CheckpointDamage(kind=kind, what="x is missing."),))
    (finding,) = (f for f in compare(damaged, PLAIN).findings if f.outcome is Outcome.REFUSES)
    assert "headgate plan repair" in finding.remedy
    assert "If you started the new version" not in finding.remedy
    assert finding.scenario == "repair"


def test_functions_that_are_known_are_not_called_unknown():
    before = version(aggregate(stores=()))
    after = version(aggregate(functions=("count(1)", "sum(s0.v)"), stores=()))
    finding = found("AGG005", before, after)
    assert "store a different number of values" in finding.why
    assert "same number and types of fields" in finding.question
    unread = found("AGG005", before, version(aggregate(keys=None, stores=())))
    assert "doesn't show the grouping columns and functions" in unread.why


def test_partitions_that_are_lost_silently_are_not_to_be_lost_once_more():
    lost = found("KAF006", LOGGED, sources(kafka(options=ASSIGNED)))
    assert "start the new version once with failOnDataLoss=false" in lost.remedy
    silent = sources(kafka(options=ASSIGNED | {"failOnDataLoss": "false"}))
    assert "failOnDataLoss" not in found("KAF006", LOGGED, silent).remedy


def test_new_partitions_are_named():
    more = sources(kafka(options={"assign": '{"orders": [0, 1, 2]}'}))
    assert "now also reads these partitions: orders[2]." in found("KAF006", LOGGED, more).why


def test_a_query_without_a_file_sink_has_no_log_to_copy():
    new = version(aggregate(), sink=Sink(format="json", target="/out", node="sink"))
    assert "_spark_metadata" not in found("SNK001", PLAIN, new).remedy
    moved = replace(new, sink=Sink(format="json", target="/new", node="sink"))
    assert "copy the old `_spark_metadata`" in found("SNK001", new, moved).remedy


def test_a_new_checkpoint_is_not_advised_where_the_code_is_refused():
    rate = {
        "sources": (replace(files(), format="rate"),),
        "sink": Sink(format="kafka", target="out", node="sink"),
        "trigger": {"availableNow": True},
    }
    continuous = {"trigger": {"continuous": "1 second"}}
    plain = version(**rate)
    assert "new checkpoint" in found("TRG001", plain, replace(plain, **continuous)).remedy
    stateful = version(aggregate(), **rate)
    finding = found("TRG001", stateful, replace(stateful, **continuous))
    assert (finding.remedy, finding.scenario) == ("Keep a micro-batch trigger.", "offline-upgrade")


@pytest.mark.parametrize(
    ("before", "after", "side"),
    [
        (WITH_STATE, TOLD, "old"),
        (TOLD, WITH_STATE, "new"),
        (WITH_STATE, WITH_STATE, "old and new"),
    ],
)
def test_the_version_is_named_whose_state_variables_the_evidence_lacks(before, after, side):
    finding = found("FUN001", version(before), version(after))
    assert f"state variables of the {side} version" in finding.why
    assert f"the processor of the {side} version" in finding.question
    assert ("old version's checkpoint" in finding.remedy) is (side == "old")


def test_a_watermark_on_another_column_is_not_called_removed():
    other = replace(TIME, column="s0.other")
    finding = found(
        "WMK003", version(WINDOWED, watermarks=(TIME,)), version(WINDOWED, watermarks=(other,))
    )
    assert finding.why.startswith("The watermark is now on a different column")
    assert finding.after == ["s0.other, 10 seconds"]


def test_append_mode_asks_for_a_watermark_and_no_other_mode_does():
    append = replace(PLAIN, output_mode="append")
    assert found("MOD001", PLAIN, append).remedy.startswith("Set a watermark")
    plain = version(output_mode="append")
    assert "watermark" not in found("MOD001", plain, replace(plain, output_mode="complete")).remedy


def test_plans_that_contradict_each_other_are_not_called_unread():
    said = "the json plan and the parsed plan show different operators: Headgate uses the json plan"
    finding = found("EVD005", PLAIN, replace(PLAIN, warnings=(said,)))
    assert finding.why.startswith("The evidence of the new version is contradictory: ")
    assert finding.question == "Which of these query plans belongs to the new version?"


def test_a_record_that_gets_a_key_has_had_no_expression_of_one():
    def sink(*names):
        fields = tuple(replace(K, name=n) for n in names)
        schema = store(fields).key_schema
        return version(sink=Sink(format="kafka", target="out", node="sink", schema=schema))

    assert "now has the column key" in found("OUT003", sink("value"), sink("value", "key")).why
    assert (
        "no longer has the column key" in found("OUT003", sink("value", "key"), sink("value")).why
    )


def test_a_total_over_all_rows_has_no_key_to_name():
    total = Counterexample(
        kind="state", key={}, columns=("count", "count"), before=3, after=5, operator_id=0
    )
    assert example_words(total) == (
        "Example: the old version stored 3 in column count, but the new version stores 5."
    )


def test_a_key_column_of_spark_may_be_called_topic():
    kept = Counterexample(
        kind="state", key={"topic": "orders"}, columns=("n", "n"), before=3, after=5, operator_id=0
    )
    assert example_words(kept) == (
        "Example: for key topic='orders', the old version stored 3 in column n, but the new "
        "version stores 5."
    )


def test_a_reason_ends_with_one_full_stop():
    assert sentence("Spark fails with X: no such file.") == "Spark fails with X: no such file."
    assert sentence("it fails: ") == "It fails."


def test_a_registry_is_not_asked_for_where_it_can_not_answer():
    def reading(function, **schema):
        return replace(PLAIN, parsed=(Parsed(function=function, columns=("s0.value",), **schema),))

    avro = [reading("from_avro", declared=f'{{"type": "{kind}"}}') for kind in ("int", "long")]
    assert "[schema_registry]" in found("RDS001", *avro).remedy
    proto = [reading("from_protobuf", message=name) for name in ("Old", "New")]
    assert "[schema_registry]" not in found("RDS001", *proto).remedy


def test_a_table_that_may_be_the_directory_is_to_be_checked():
    old = version(aggregate(), sink=Sink(format="json", target="out", node="sink"))
    new = version(aggregate(), sink=Sink(format="json", target="/data/out", node="sink"))
    assert found("SNK006", old, new).remedy.startswith("Check whether")
    assert found("SNK006", replace(old, sink=None), new).remedy.startswith("Add a query plan")


def test_an_option_is_called_as_in_the_code():
    old, new = (sources(kafka(options={"minPartitions": n})) for n in ("1", "2"))
    assert found("TRF002", old, new).why.startswith("Option minPartitions changed.")


@pytest.mark.parametrize(("old", "new", "side"), [("file", "json", "old"), ("json", "file", "new")])
def test_the_version_is_named_whose_file_format_the_evidence_lacks(old, new, side):
    before, after = (
        version(aggregate(), sink=Sink(format=f, target="/out", node="sink")) for f in (old, new)
    )
    finding = found("SNK005", before, after)
    assert finding.question == f"Which file format does the {side} version write to this directory?"


def test_an_option_that_is_set_is_not_advised():
    plain, lossy = world_cases.PLAIN, world_cases.LOSSY
    known = world_cases.now(world_cases.topic("orders", (0, 2)))
    loud = found("WLD002", plain, plain, cluster=known)
    assert "start the query once with failOnDataLoss=false" in loud.remedy
    silent = found("WLD002", plain, lossy, cluster=known)
    assert "because failOnDataLoss is false" in silent.remedy


@pytest.mark.parametrize(
    ("advanced", "said", "asked"),
    [
        (False, "The last batch had no files", "Are files that were already processed still"),
        (None, "doesn't show whether the last batch had files", "Did the last batch read files"),
    ],
)
def test_a_missing_log_of_a_file_source_by_what_is_known_of_the_last_batch(advanced, said, asked):
    kind = CheckpointDamageKind.NO_SOURCE_LOG
    source = files(advanced=advanced)
    damaged = version(
        aggregate(),
        sources=(source,),
        progress=None,
        faults=(CheckpointDamage(kind=kind, what="x is missing."),),
    )
    finding = found("CKP005", damaged, version(aggregate(), sources=(source,)))
    assert said in finding.why and finding.question.startswith(asked)


def test_paths_swapped_name_the_path():
    old = (files(position=0, path="/a"), files(position=1, path="/b"))
    new = (files(position=0, path="/b"), files(position=1, path="/a"))
    told = [replace(s, advanced=False) for s in old]
    finding = found("FIL002", version(sources=tuple(told)), version(sources=new))
    assert finding.why.startswith("In the old version, a different source read /b. ")


def test_versions_without_state_share_no_type_of_source():
    (said,) = unrelated_versions(version(sources=(kafka(),)), version(sources=(files(),)))
    assert "The two versions share no type of source." in said


def test_an_old_version_that_ignores_data_loss_needs_no_step_before_a_rollback():
    lossy = kafka(options={"failOnDataLoss": "false"})
    more = sources(kafka(topics=("orders", "more")))
    assert "To roll back" in found("KAF003", sources(kafka()), more).remedy
    assert found("KAF003", sources(lossy), more).remedy == ""


def test_records_of_a_deleted_topic_are_not_to_be_written_to_it():
    for before, after, cluster, outcome in world_cases.CASES["WLD005"]:
        if outcome in (Outcome.REFUSES, Outcome.SILENTLY_WRONG):
            remedy = found("WLD005", before, after, cluster=cluster).remedy
            assert "write the copy to a topic that the query reads" in remedy
            assert ("failOnDataLoss is false" in remedy) == (outcome is Outcome.SILENTLY_WRONG)
