"""The columns that a query writes, and the fields that it reads from its input columns."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.model.state_schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """The fields that a function such as `to_json(struct(...))` writes into one column of a record.

    `column` is the sink's column; `writer` is `to_json`, `to_avro`, `to_protobuf` or `to_csv`.
    `schema` has the fields in order, None if the evidence doesn't show them. `declared` is the Avro
    schema that the query passes, unchanged.
    """

    column: str
    writer: str
    schema: Schema | None = None
    declared: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """How a query parses a column of its sources, for example with `from_json(s0.value)`.

    `columns` are the parsed source columns (`s0.value`). `function` is `from_json`, `from_avro` or
    `from_protobuf`. `schema` has the resulting fields. With `is_pruned`, fields may be missing,
    because Spark's optimizer removes fields that nothing needs. `declared` is the Avro schema that
    records are decoded with, `evolved` the schema that they are converted to (option `avroSchema`).
    `message` is the name of the Protobuf message. `mode` is what happens to a record that can't be
    parsed: `FAILFAST` (Avro's default) or `PERMISSIVE`, None if no option sets it.
    """

    function: str
    columns: tuple[str, ...] = ()
    schema: Schema | None = None
    is_pruned: bool = False
    declared: str | None = None
    evolved: str | None = None
    message: str | None = None
    mode: str | None = None
