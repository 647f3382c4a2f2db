"""What a query makes of its output's columns, and what it takes out of its input's."""

from __future__ import annotations

from dataclasses import dataclass

from headgate.model.state_schema import Schema


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a writer puts into one column of a record: `to_json(struct(...))` and its like.

    `column` is the sink's column, `writer` one of `to_json`, `to_avro`, `to_protobuf`, `to_csv`.
    `schema` are the fields in order, None where the evidence does not tell them. `declared` is
    Avro's own schema where the query gives one, as it is written there.
    """

    column: str
    writer: str
    schema: Schema | None = None
    declared: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Parsed:
    """How a query reads a column of its sources: `from_json(s0.value)` and its like.

    `columns` are the source columns within (`s0.value`), `function` is `from_json`, `from_avro` or
    `from_protobuf`. `schema` are the fields that it gives; with `is_pruned` some may be missing,
    because the optimiser leaves those that nothing needs. `declared` is the Avro schema that the
    records are taken to be written with, `evolved` the one that they are turned into (option
    `avroSchema`), `message` Protobuf's name of the message. `mode` is what happens to a record that
    can't be read: `FAILFAST` (Avro's default) or `PERMISSIVE`, None where no option says it.
    """

    function: str
    columns: tuple[str, ...] = ()
    schema: Schema | None = None
    is_pruned: bool = False
    declared: str | None = None
    evolved: str | None = None
    message: str | None = None
    mode: str | None = None
