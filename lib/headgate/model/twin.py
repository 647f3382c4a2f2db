"""The result of a twin run: both versions of a query on the same generated rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMatch:
    """Two equal value columns, counted from 0.

    The old version's column equals the new version's in `keys` of `of` keys.
    """

    before_column: int
    after_column: int
    keys: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """One key or row for which the versions differ, with the values of one column.

    `before` is the value of the old version, `after` that of the new version after the same rows.
    For `kind` output, there is no store, and both values are whole rows. `masked`: the values come
    from a sample, so key and values are replaced.
    """

    kind: Literal["state", "output"]
    operator_id: int | None = None
    operator: str = ""
    store: str | None = None
    key: dict[str, Any]
    columns: tuple[str, str] = ("", "")
    before: Any = None
    after: Any = None
    match: ColumnMatch | None = None
    masked: bool = False

    @property
    def topic(self) -> str | None:
        """The output topic of Kafka Streams; None for Spark, whose keys may have such a column."""
        return self.key.get("topic") if self.kind == "output" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRows:
    """Rows that changed the state of an operator during the first rows (A), by version.

    None: the version doesn't have the operator. `reached_*` are the rows that reached the operator
    (in a join: the input with fewer rows), None if unknown. `keys` is the number of keys of the old
    version, in the store with the most keys.
    """

    operator_id: int
    operator: str
    rows_before: int | None = None
    rows_after: int | None = None
    reached_before: int | None = None
    reached_after: int | None = None
    keys: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class FilterRows:
    """Rows that reached a filter and rows that passed it during the first rows (A), by version.

    None: the version doesn't have this filter.
    """

    condition: str
    before: tuple[int, int] | None = None
    after: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SameOperator:
    """Whether Catalyst considers a stateful operator the same in both versions.

    None: keys and values can't be compared, because the inputs differ.
    """

    operator_id: int
    operator: str
    inputs: bool
    keys: bool | None
    values: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """The comparison of both optimized plans by Catalyst, before any row is processed.

    `plan`: the plans are the same; None: they can't be compared. `differs` lists other differences,
    such as settings, sources or the sink. `operators` is empty if the versions have different
    operators.
    """

    plan: bool | None
    differs: tuple[str, ...] = ()
    operators: tuple[SameOperator, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether both versions are the same query, so that no run is needed."""
        return bool(self.plan) and not self.differs

    def has_same_keys(self, operator_id: int) -> bool:
        """Whether an operator certainly has the same keys in both versions."""
        found = (o for o in self.operators if o.operator_id == operator_id)
        return any(o.inputs and o.keys for o in found)

    def has_only_other_keys(self, operator_id: int) -> bool:
        """Whether an operator puts the same rows and values under other keys."""
        found = (o for o in self.operators if o.operator_id == operator_id)
        return any(o.inputs and o.keys is False and o.values for o in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinVerdict:
    """The outcome of a twin run.

    `refusal` has `error_class`, `condition` and `message` of a failed start. `why` is one sentence.
    `question` says what would decide an UNKNOWN. `mixed`: results combine the old and the new
    logic. `is_exact`: states and outputs are equal, and don't only have the same meaning (Spark) or
    the same last values (Kafka Streams). `is_scaled`: the only sign of a wrong result is that
    values differ for keys with only one row, so possibly only the expression of a function changed.
    `is_thin`: the outcome is UNKNOWN only because too few rows, or rows that are too similar,
    reached a store or the output, or because the change is one of files, which generated rows
    replace: then the outcome of the rules stays. `rows` is the number of rows that were generated
    for A and B. `left_out` are columns that depend on time or random values. `spark_version` or
    `streams_version` is the engine's release. `is_sampled`: rows or records came from a sample.
    """

    outcome: TwinOutcome
    why: str
    question: str | None = None
    mixed: bool = False
    is_exact: bool = False
    is_scaled: bool = False
    is_thin: bool = False
    refusal: FailedStart | None = None
    counterexample: Counterexample | None = None
    operators: tuple[OperatorRows, ...] = ()
    filters: tuple[FilterRows, ...] = ()
    equivalence: Equivalence | None = None
    seed: int = 0
    rows: int = 0
    rows_out: int = 0
    left_out: tuple[str, ...] = ()
    seconds: float = 0.0
    spark_version: str = ""
    streams_version: str = ""
    is_sampled: bool = False


TwinOutcome = Literal["resumes", "refuses", "silently_wrong", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedStart:
    """The error with which Spark failed to start the new version on the old checkpoint."""

    error_class: str
    condition: str | None
    message: str
