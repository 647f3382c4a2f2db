"""What the difference between both versions' rows of one store means."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from headgate.model.twin import Counterexample, TwinOutcome
from headgate.text.numbers import plural
from headgate.twin.compare_states import StoreComparison, compare_stores, grids
from headgate.twin.experiment import Experiment, Frozen, Ran, Store, StoreId, texts

LIMIT = "globalLimit"
# Measured on recorded changes: another share gives more false alarms, or misses a failure.
_ORPHANED = 0.3
_EQUAL = 0.02
_FEW_SINGLE, _OTHER_MEANING, _SAME_SINGLE, _OTHER_FUNCTION, _NEARLY_ALL = 8, 0.5, 0.03, 0.5, 0.9
LEAST_ROWS, _TOUCHED = 20, 5
_DIGIT = 9


@dataclass(frozen=True, slots=True)
class Said:
    """An outcome with its reason; see `TwinVerdict` for the flags."""

    outcome: TwinOutcome
    why: str
    example: Counterexample | None = None
    mixed: bool = False
    is_scaled: bool = False
    is_thin: bool = False


def judge_store(run: Experiment, store: StoreId) -> Said | None:
    """Return what one store's difference means, None if there is none or it can't be read."""
    before, after = run.state_before[store], run.state_after[store]
    if before.error or after.error or before.rows == after.rows:
        return None
    if store[1] == LIMIT:
        # It counts the rows that it passed, and has no keys.
        return Said(
            "resumes",
            "the limit also counts rows that the old version already emitted",
            mixed=True,
        )
    if "WithinWatermark" in store[1]:
        # Its values are expiry times.
        before, after = (replace(s, rows=dict.fromkeys(s.rows, 0)) for s in (before, after))
    if before.rows == after.rows:
        return None
    found = compare_stores(before, after, run.words)
    pair = _Pair(run, store, before, after, found)
    steps = (pair.moved, pair.represented, pair.orphaned, pair.renamed, pair.regridded)
    for judged in (*steps, pair.kept, pair.redistributed, pair.changed):
        said = judged()
        if said is not None:
            return said
    return pair.mixed()


@dataclass(frozen=True, slots=True)
class _Pair:
    """One store of both versions, whose rows differ."""

    run: Experiment
    store: StoreId
    before: Store
    after: Store
    found: StoreComparison

    @property
    def _is_join(self) -> bool:
        return "Join" in self.store[1]

    def moved(self) -> Said | None:
        """Key or value columns have changed positions."""
        found = self.found
        if found.key_order is not None:
            order = ", ".join(str(i + 1) for i in found.key_order)
            return Said(
                "silently_wrong",
                f"the key columns of {self._name} have changed positions (new order of the old "
                f"columns: {order})",
                self._key_example(),
            )
        if not found.swapped:
            return None
        first = found.swapped[0]
        return Said(
            "silently_wrong",
            (
                f"value columns of {self._name} have changed positions: column "
                f"{first.before_column + 1} of the old version equals column "
                f"{first.after_column + 1} of the new version for {first.keys} of {first.of} keys"
            ),
            replace(self._example(first.before_column), match=first),
        )

    def represented(self) -> Said | None:
        """Values differ, but whatever B touched comes out the same."""
        found, run = self.found, self.run
        if not min(found.before, found.after):
            return Said("unknown", f"{self._name} is empty in one version", is_thin=True)
        if len(found.different) <= _EQUAL * found.common or len(run.resumed.rows) < LEAST_ROWS:
            return None
        if output_of(run.resumed, run) != output_of(run.own, run):
            return None
        later = run.state_resumed.get(self.store, Store()).rows
        # A key that was only evicted shows nothing.
        touched = sum(k in later and later[k] != self.before.rows[k] for k in found.different)
        if touched < _TOUCHED:
            return None
        return Said(
            "resumes",
            (f"the new version stores {self._name} in a different form with the same meaning"),
        )

    def orphaned(self) -> Said | None:
        """Keys mean something else: neither version finds the other's."""
        found = self.found
        # A key that the old version has evicted is one of its own.
        known = self.run.history.get(self.store, frozenset())
        never = sum(key not in known for key in found.only_after)
        lost = len(found.only_before) > _ORPHANED * found.before
        if not (lost and never > _ORPHANED * found.after):
            return None
        return Said(
            "silently_wrong",
            (
                f"the keys of {self._name} have a different meaning: the new version never finds "
                f"{len(found.only_before)} of {found.before} keys of the old version"
            ),
            self._key_example(),
        )

    def renamed(self) -> Said | None:
        """Few keys mean something else: what the old version left for them is at other keys."""
        found = self.found
        if not found.only_before or len(found.different) > _EQUAL * found.common or self._is_join:
            return None
        old = Counter(self.before.rows[k] for k in found.only_before)
        new = Counter(self.after.rows[k] for k in found.only_after)
        if old != new or not any(_is_distinctive(value) for value in old):
            return None
        return Said(
            "silently_wrong",
            (
                f"{plural(len(found.only_before), 'key')} of {self._name} changed: the new "
                "version never finds the old state under the new keys"
            ),
            self._key_example(),
        )

    def regridded(self) -> Said | None:
        """Windows of the old version are none of the new one's."""
        before, after = (grids(s.rows) for s in (self.before, self.after))
        for column, grid in before.items():
            if column in after and not grid <= after[column]:
                return Said(
                    "silently_wrong",
                    (
                        f"in the new version, the windows of {self._name} have other start times "
                        "or another length, so some windows of the old version never get new rows"
                    ),
                    self._key_example(),
                )
        return None

    def kept(self) -> Said | None:
        """Values agree where both have a key: other rows are selected, or kept for another time."""
        found = self.found
        if len(found.different) > _EQUAL * found.common and not self._is_join:
            return None
        opened = [] if self._is_join else self._opened_again()
        if opened:
            return Said(
                "silently_wrong",
                (
                    f"the new version restarts {plural(len(opened), 'key')} of {self._name} from "
                    "zero: the old version had already evicted "
                    + ("this key" if len(opened) == 1 else "these keys")
                ),
                self._example(0, opened[0]),
            )
        return Said("resumes", f"{self._name} has different rows in the new version", mixed=True)

    def _opened_again(self) -> list[Frozen]:
        run = self.run
        history = run.history.get(self.store, frozenset())
        later = run.state_resumed.get(self.store, Store()).rows
        own = run.state_own.get(self.store, Store()).rows
        return [
            key
            for key in self.found.only_after
            if key in history and key in later and key in own and later[key] != own[key]
        ]

    def redistributed(self) -> Said | None:
        """The same rows belong to other keys, which both versions have."""
        same, found = self.run.equivalence, self.found
        if same is None or not same.has_only_other_keys(self.store[0]) or not found.different:
            return None
        return Said(
            "silently_wrong",
            (
                f"in the new version, rows of {plural(len(found.different), 'key')} of "
                f"{self._name} belong to other keys: the old state of these keys includes rows of "
                "other keys"
            ),
            self._example(),
        )

    def changed(self) -> Said | None:
        """Values differ in a way that shows another meaning, or another function."""
        found = self.found
        several = found.common - found.single
        different = len(found.different) - found.single_different
        of_several = different / several if several else 0.0
        missing = len(found.only_before) + len(found.only_after)
        if found.factor is not None or found.is_placeholder:
            return None
        if found.single >= _FEW_SINGLE:
            of_single = found.single_different / found.single
            if of_single >= _OTHER_MEANING:
                said = self._wrong(
                    f"the value of {self._name} has a different meaning, even for keys with only "
                    "one row"
                )
                return replace(said, is_scaled=True)
            if of_single <= _SAME_SINGLE >= missing / found.before and (
                of_several >= _OTHER_FUNCTION
            ):
                return self._wrong(
                    f"the value of {self._name} comes from a different function: only keys with "
                    "several rows differ"
                )
        elif of_several >= _NEARLY_ALL:
            # Too few keys with one row tell whether another expression or another function did it.
            said = self._wrong(f"the value of {self._name} differs for nearly all keys")
            return replace(said, is_scaled=True)
        return None

    def mixed(self) -> Said:
        """Return what is left: some keys counted other rows, or all rows in another unit."""
        what = "rows of the old and of the new version"
        if self.found.factor is not None:
            what = f"old values and new values, which are {self.found.factor:g} times as large"
        return Said("resumes", f"{self._name} mixes {what}", mixed=True)

    def _wrong(self, why: str) -> Said:
        return Said("silently_wrong", why, self._example())

    @property
    def _name(self) -> str:
        operator_id, operator, store = self.store
        return f"{operator} (operator {operator_id}, store {store})"

    def _example(self, column: int | None = None, key: Frozen = None) -> Counterexample:
        """Return a key that both have, with one column's values."""
        key = key if key is not None else _plainest(self.found.different, self.run.sampled)
        old, new = self.before.rows.get(key), self.after.rows.get(key)
        if column is None:
            column = next((i for i, _ in enumerate(old) if old[i] != new[i]), 0)  # type: ignore[arg-type, index]
        return Counterexample(
            kind="state",
            operator_id=self.store[0],
            operator=self.store[1],
            store=self.store[2],
            key=_named(self.before.keys, key),
            columns=(_column(self.before, column), _column(self.after, column)),
            before=_at(old, column),
            after=_at(new, column),
        )

    def _key_example(self) -> Counterexample:
        """Return a key that only the old version has."""
        key = _plainest(self.found.only_before or self.found.different, self.run.sampled)
        return Counterexample(
            kind="state",
            operator_id=self.store[0],
            operator=self.store[1],
            store=self.store[2],
            key=_named(self.before.keys, key),
            before=self.before.rows.get(key),
            after=self.after.rows.get(key),
        )


def _is_distinctive(value: Frozen) -> bool:
    """Say whether two keys hardly have such a value by chance."""
    columns = value if isinstance(value, tuple) else (value,)
    numbers = [v for v in columns if isinstance(v, (int, float)) and not isinstance(v, bool)]
    return any(abs(n) > _DIGIT for n in numbers) or len(set(map(repr, columns))) > 1


def _plainest(keys: Sequence[Frozen], sampled: frozenset[str] = frozenset()) -> Frozen:
    """Return a key that is recognizable as one: no empty text, no null, nothing to be masked."""
    plain = [k for k in keys if (found := [*texts(k)]) and all(map(_is_plain, found))]
    own = (k for k in plain if not {t.lower() for t in texts(k)} & sampled)
    return next(own, plain[0] if plain else keys[0])


def _is_plain(text: str) -> bool:
    return text.strip() == text != ""


def _named(names: Sequence[str], row: Frozen) -> dict[str, Any]:
    values = row if isinstance(row, tuple) else (row,)
    return dict(zip(names or ("key",), values, strict=False))


def _column(store: Store, column: int) -> str:
    return store.values[column] if column < len(store.values) else "value"


def _at(value: Frozen, column: int) -> Any:
    is_struct = isinstance(value, tuple) and not (value and value[0] == "several")
    return value[column] if is_struct and column < len(value) else value


def output_of(ran: Ran, run: Experiment) -> Counter[str]:
    """Return rows as a multiset, without the columns that time or chance fill."""
    if not run.left_out:
        return Counter(ran.rows)
    kept = ({k: v for k, v in json.loads(r).items() if k not in run.left_out} for r in ran.rows)
    return Counter(json.dumps(row, sort_keys=True) for row in kept)
