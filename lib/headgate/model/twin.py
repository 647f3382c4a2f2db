"""What a twin run found: both versions of a query on the same generated rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class ColumnMatch:
    """Value columns, from 0: the old version's equals the new one's in `keys` of `of` keys."""

    before_column: int
    after_column: int
    keys: int
    of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Counterexample:
    """One key or row on which the versions differ, with the values of one column.

    `before` is what the old version left, `after` what the new one would have had after the same
    rows. Of `kind` output there is no store, and both values are whole rows. `masked`: the values
    come from a sample, so key and values are replaced.
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


@dataclass(frozen=True, slots=True, kw_only=True)
class OperatorRows:
    """Rows that changed the state of one operator over A, in each version; None: it has none.

    `reached_*` are the rows that came to it, of a join those of the side with fewer; None: unknown.
    `keys` are those that the old version left, of the store with most.
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
    """Rows that reached a filter and passed it over A, in each version; None: it has none such."""

    condition: str
    before: tuple[int, int] | None = None
    after: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SameOperator:
    """Whether an operator with state is the same to Catalyst in both versions, part by part.

    None: keys and values of operators with different inputs can't be compared.
    """

    operator_id: int
    operator: str
    inputs: bool
    keys: bool | None
    values: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Equivalence:
    """What Catalyst says of both optimized plans, before any row runs.

    `plan`: they are the same; None: they can't be compared. `differs` names what else is different:
    settings, sources, sink and the like. `operators` is empty if the versions have different ones.
    """

    plan: bool | None
    differs: tuple[str, ...] = ()
    operators: tuple[SameOperator, ...] = ()

    @property
    def is_same(self) -> bool:
        """Whether both versions are one query, so that there is nothing to run."""
        return bool(self.plan) and not self.differs

    def has_same_keys(self, operator_id: int) -> bool:
        """Whether an operator surely has the same keys in both versions."""
        found = (o for o in self.operators if o.operator_id == operator_id)
        return any(o.inputs and o.keys for o in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class TwinVerdict:
    """What both versions did.

    `refusal` has `error_class`, `condition` and `message` of a start that failed. `why` is one
    sentence, `question` what would decide an UNKNOWN. `mixed`: history mixes old and new meaning.
    `is_exact`: states and outputs are equal, not only of the same meaning (Spark) or with the same
    last values (Kafka Streams). `is_scaled`: the only sign of a wrong result is that values differ
    in keys of one row, so one function may have got another expression. `is_thin`: an UNKNOWN where
    all rows went well, and only too few or too equal ones reached a store or the output. `rows`
    counts what was generated for A and B, `left_out` are columns that time or chance fill.
    `spark_version` or `streams_version` is the engine's release. `is_sampled`: rows or records came
    from a sample.
    """

    outcome: TwinOutcome
    why: str
    question: str | None = None
    mixed: bool = False
    is_exact: bool = False
    is_scaled: bool = False
    is_thin: bool = False
    refusal: Refused | None = None
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
class Refused:
    """Spark's refusal of the new version on the old one's checkpoint."""

    error_class: str
    condition: str | None
    message: str
