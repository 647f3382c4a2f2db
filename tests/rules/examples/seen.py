"""Examples of rules that compare no two versions alone: their facts come from beside them.

Consumers and schemas of topics from headgate.toml, and what both versions did in a twin run. Each
takes the facts of a unit test that holds the same.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from headgate.model.topic_schema import FieldChange, FieldChangeKind
from headgate.model.twin import TwinVerdict
from headgate.model.version import Engine, Version
from headgate.rules.compare.twin_findings import SPARK_RULES, TwinRule
from headgate.rules.compare.twin_streams_findings import STREAMS_RULES
from headgate.rules.core.report import Location
from headgate.rules.topic_schemas.consumers import judge_reads
from headgate.rules.topic_schemas.facts.field_reads import topic_use, without_lead
from headgate.twin.judge import judge
from headgate.twin.judge_streams import judge_streams
from rules.build import kafka
from rules.output_cases import ID, TOTAL, reading, to_folder, to_topic

from .excerpt import changed_facts
from .tables import WHY, Example, Side, facts_of, import_tests, side


def seen_examples() -> dict[str, Example]:
    """Return an example of each rule about consumers, registered schemas and twin runs."""
    return dict(_compared()) | dict(_of_schemas()) | dict(_twins())


class Around(NamedTuple):
    """Two versions, a headgate.toml and its files; `told` says what they are, for the page."""

    test: str
    before: Version
    after: Version
    toml: str
    files: dict[str, Any]
    told: tuple[str, ...]


def _arounds() -> dict[str, tuple[Around, Around]]:
    """Return by rule the versions that it reports, and those that it doesn't."""
    tests = import_tests("../usecases/compare", "test_surroundings")
    first, second = tests.FIRST, tests.SECOND
    totals, ids = to_topic(ID, TOTAL), to_topic(ID)
    total = "from_json(cast(value as string)).total"
    reads = "a_pipeline_that_reads_the_field_makes_it_silently_wrong"
    billing = Around(
        reads, totals, ids, tests.SPARK.format("billing"), {"billing": tests.READS_TOTAL},
        (f"Pipeline billing: {total}",),
    )  # fmt: skip
    others = billing._replace(before=to_topic(TOTAL, ID), after=to_topic(TOTAL))
    hidden = Around(
        "code_that_no_evidence_shows_is_a_question", totals, ids, tests.SPARK.format("enrich"),
        {"enrich": tests.reader({"all": "decoded(s0.value)"})},
        ("Pipeline enrich: decoded(value), a user function",),
    )  # fmt: skip
    folder = replace(kafka(), format="parquet", topics=(), path="/out", columns=("id", "total"))
    later = replace(tests.reader({"x": "s0.id"}), sources=(replace(folder, node="in"),))
    elsewhere = replace(later, sources=(replace(later.sources[0], path="/elsewhere"),))
    files = Around(
        "a_pipeline_that_reads_the_folder", to_folder(ID, TOTAL), to_folder(ID),
        tests.SPARK.format("later"), {"later": later},
        ("Pipeline later: reads /out with the columns id, total",),
    )  # fmt: skip
    old, new = (reading(function="from_avro", declared=d) for d in (first, second))
    held = Around(
        "avro_that_the_topic_does_not_hold", old, new, tests.DECLARED, {"order.avsc": first},
        (f"Topic orders, current schema: {first}",),
    )  # fmt: skip
    json_of = {"order.avsc": tests.JSON_SCHEMA}
    properties = "Topic orders, current schema: JSON Schema with the properties id, total"
    noted = Around(
        "json_that_may_have_the_field", reading(ID), reading(ID, replace(ID, name="note")),
        tests.DECLARED, json_of, (properties,),
    )  # fmt: skip
    wrote, writes = (to_topic(ID, writer="to_avro", declared=d) for d in (first, second))
    out = Around(
        "written_avro_that_the_registered_schema_misreads", wrote, writes,
        '[topics.out]\nschema = "order.avsc"\n', {"order.avsc": first},
        (f"Topic out, registered schema: {first}",),
    )  # fmt: skip
    return {
        "DWN001": (billing, others),
        "DWN002": (hidden, others),
        "DWN003": (
            files,
            files._replace(
                files={"later": elsewhere},
                told=("Pipeline later: reads /elsewhere with the columns id, total",),
            ),
        ),
        "RDS002": (
            held,
            held._replace(
                test="avro_that_the_topic_holds_by_now",
                files={"order.avsc": second},
                told=(f"Topic orders, current schema: {second}",),
            ),
        ),
        "RDS003": (noted, noted._replace(before=reading(), after=reading(ID))),
        "RDS004": (out, out._replace(before=out.after, after=out.before)),
    }


def _compared() -> Iterator[tuple[str, Example]]:
    tests = import_tests("../usecases/compare", "test_surroundings")
    for code, (shown, passes) in _arounds().items():
        assert code not in _found(tests, passes)
        said = _found(tests, shown)[code].removesuffix(without_lead(WHY[code]))
        yield code, {"reported": _around(shown, said), "passes": _around(passes)}


def _found(tests: Any, one: Around) -> dict[str, str]:
    with tempfile.TemporaryDirectory() as folder:
        report = tests.compared(Path(folder), one.before, one.after, one.toml, **one.files)
        return {f.rule: f.why.replace(f"{folder}/", "") for f in report.findings}


def _around(one: Around, said: str = "") -> Side:
    lines = changed_facts(facts_of(one.before), facts_of(one.after))
    case = f"tests/usecases/compare/test_surroundings.py, test_{one.test}"
    return side(case, [*(f"  {t}" for t in one.told), *lines], said=said)


def _of_schemas() -> Iterator[tuple[str, Example]]:
    tests = import_tests("topic_schemas/facts", "test_reads")
    gone = FieldChange(FieldChangeKind.REMOVED, "k", "string", None)
    case = (
        "tests/rules/topic_schemas/facts/test_reads.py, "
        "test_a_field_that_goes_is_a_finding_for_each_of_its_readers"
    )
    removed = "- Topic orders, field k: string"
    other = topic_use("p", tests.version({"v": f"{tests.JSON}.v"}), "orders", "value")
    silent = side(case, ["  Pipeline p: from_json(cast(value as string)).v", removed])
    assert not list(judge_reads(gone, [other.of("k")]))
    uses = {
        "SCH401": (
            tests.version({"k": f"{tests.JSON}.k"}),
            "Pipeline p: from_json(cast(value as string)).k",
        ),
        "SCH402": (Version(engine=Engine.KAFKA_STREAMS), "Pipeline p: a Kafka Streams application"),
    }
    for code, (version, told) in uses.items():
        (found,) = judge_reads(gone, [topic_use("p", version, "orders", "value").of("k")])
        assert found.rule == code
        # The finding says the rule's sentences without those that name no pipeline.
        said = found.why.removesuffix(without_lead(WHY[code]))
        assert said != found.why
        shown = side(case, [f"  {told}", removed], said=said)
        yield code, {"reported": shown, "passes": silent}


_SPARK_ERROR = {
    "class": "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
    "condition": "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE",
    "message": "Provided value schema does not match existing state value schema",
    "is_around": False,
    "stage": "batch",
}
_ROWS = "Both versions processed the same generated rows."
_RECORDS = "Both versions processed the same records."


def _twins() -> Iterator[tuple[str, Example]]:
    tests = import_tests("../twin", "test_judge")
    ran = tests.Ran
    fails, waits = ran(error=_SPARK_ERROR), ran(late="waits")
    swapped = tests.run(after=lambda n: (1000 - n, n), own=tests.OTHER_OUT)
    passes = _spark(tests.run())
    wrong = "values_that_changed_places_are_wrong_with_a_counterexample"
    runs = {
        "TWN001": ("a_failed_restart_refuses_with_sparks_condition", tests.run(resumed=fails)),
        "TWN002": (wrong, swapped),
        "TWN003": ("what_decides_nothing_asks", tests.run(resumed=waits)),
    }
    file = "tests/twin/test_judge.py"
    fine = side(f"{file}, test_equal_states_and_outputs_resume", passes, change=_ROWS)
    for code, (test, run) in runs.items():
        said = _said(code, judge(run), SPARK_RULES)
        shown = side(f"{file}, test_{test}", _spark(run), change=_ROWS, said=said)
        yield code, {"reported": shown, "passes": fine}
    yield from _streams_twins()


def _streams_twins() -> Iterator[tuple[str, Example]]:
    tests = import_tests("../twin", "test_judge_streams")
    error = (
        "org.apache.kafka.streams.errors.StreamsException: Existing internal topic "
        "app-counts-changelog has invalid partitions: expected: 4; actual: 2."
    )
    failed = replace(tests.EQUAL, resumed=tests.refused("batch", error))
    chance = replace(tests.differing(), again=tests.start(tests.THREES))
    wrong = "the_same_before_the_restart_and_not_after_it_is_wrong_with_a_key_and_both_values"
    runs = {
        "TWN011": ("a_refusal_has_its_class", failed),
        "TWN012": (wrong, tests.differing()),
        "TWN013": ("outputs_that_differ_between_equal_runs_are_unknown", chance),
    }
    file = "tests/twin/test_judge_streams.py"
    fine = side(f"{file}, test_equal_outputs_resume", _streams(tests.EQUAL), change=_RECORDS)
    for code, (test, run) in runs.items():
        said = _said(code, judge_streams(run), STREAMS_RULES)
        shown = side(f"{file}, test_{test}", _streams(run), change=_RECORDS, said=said)
        yield code, {"reported": shown, "passes": fine}


def _said(code: str, verdict: TwinVerdict, rules: dict[str, TwinRule]) -> str:
    rule = rules[verdict.outcome]
    assert rule.code == code
    return rule.of(verdict, Location()).why.removesuffix(WHY[code])


def _spark(run: Any) -> list[str]:
    """Return the state of one key in both versions, and what the new one did with each state."""
    states = {"old": run.state_before, "new": run.state_after} if run.resumed.rows else {}
    told = [f"  State of the {who} version, {_row(state)}" for who, state in states.items()]
    told.append(f"  New version on the old version's checkpoint: {_ended(run.resumed)}")
    return [*told, f"  New version on its own checkpoint: {_ended(run.own)}"]


def _row(state: Any) -> str:
    (store,) = state.values()
    key, values = next(iter(store.rows.items()))
    named = zip(store.values, values, strict=True)
    return f"key {key[0]}: {', '.join(f'{name}={value}' for name, value in named)}"


def _ended(ran: Any) -> str:
    if ran.error:
        return str(ran.error["class"])
    return "not finished before the timeout" if ran.late else f"{len(ran.rows)} output rows"


def _streams(run: Any) -> list[str]:
    """Return the last value of one key in each start of the new version."""
    starts = {
        "New version with the old version's state": run.resumed,
        "New version from scratch": run.own,
        "New version from scratch, second run": run.again,
    }
    return [f"  {who}, {_record(start)}" for who, start in starts.items() if start is not None]


def _record(start: Any) -> str:
    if start.causes:
        return f"error: {start.causes[0]}"
    ((topic, records),) = start.outputs.items()
    key, value = records[0]
    return f"key {key.decode()} of topic {topic}: {value.decode()}"
