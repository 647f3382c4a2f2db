"""Rules about the pipelines that read a field which goes or changes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from headgate.model.topic_schema import Effect, FieldChange, FieldChangeKind, SchemaFinding
from headgate.rules.topic_schemas.facts.field_reads import (
    NEEDS_FIELD,
    Certainty,
    FieldRead,
    without_lead,
)
from headgate.rules.topic_schemas.facts.rule import Breach, Pair, rule

SPARK = "https://spark.apache.org/docs/latest/api/sql/#from_json"


@rule(
    "SCH401",
    SPARK,
    Effect.SILENTLY_WRONG,
    remedy=(
        "Change the pipeline first. Or keep writing the field until the pipeline no longer reads "
        "the field."
    ),
)
def pipeline_reads_field(_: Pair) -> Iterable[Breach]:
    """A registered pipeline reads this field.

    Without the field, from_json and get_json_object return null, and the query continues. If the
    field has a different type, from_json returns null, too. from_avro and from_protobuf fail or
    return null, depending on their mode.
    """
    return ()


@rule(
    "SCH402",
    SPARK,
    Effect.UNKNOWN,
    remedy="Before you change the field, check how the pipeline uses it.",
    questions=(NEEDS_FIELD,),
)
def pipeline_may_read_field(_: Pair) -> Iterable[Breach]:
    """A registered pipeline reads this topic. The pipeline's evidence doesn't show how it uses this
    field.

    If the pipeline uses the field, the change can make it fail, or give it null or wrong values. A
    schema registry compares only schemas and doesn't know this pipeline, so it may accept the
    change.
    """
    return ()


PIPELINES = (pipeline_reads_field, pipeline_may_read_field)


def judge_reads(change: FieldChange, reads: Iterable[FieldRead]) -> Iterator[SchemaFinding]:
    """Yield a finding for each pipeline that reads a field which went or changed its type."""
    if change.kind is FieldChangeKind.ADDED:
        return
    for read in reads:
        if read.certainty is Certainty.NO:
            continue
        certain = read.certainty is Certainty.DEFINITE
        chosen = pipeline_reads_field if certain else pipeline_may_read_field
        yield SchemaFinding(
            rule=chosen.code,
            effect=chosen.effect,
            path=change.path,
            before=change.before,
            after=change.after,
            why=f"{read.sentence} {without_lead(chosen.why)}",
            remedy=chosen.remedy,
            source=chosen.source,
            pipeline=read.pipeline,
            question=None if certain else read.question,
        )
