"""Which state store of one version means what a store of the other means, whatever it is called.

The engine finds a store only by its name. What a store means is what fills it, from which
topics, and what is made of it; if that has another name now, results are silently wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from headgate.model.kafka_streams import StreamsStore
from headgate.rules.core.report import Location
from headgate.rules.kafka_streams.facts.flow import UNREAD, Flow, Key

_FAMILIES: tuple[tuple[str, frozenset[str]], ...] = (
    ("aggregate", frozenset({"aggregate", "reduce", "cogroup_aggregate"})),
    ("join", frozenset({"join_window", "stream_join", "stream_outer_join", "stream_join_merge"})),
    ("table", frozenset({"table_source", "to_table", "materialize", "map_values", "filter"})),
)
_SAME_INPUTS, _SOME_INPUTS, _SAME_WAY_UP = 3.0, 1.5, 6.0
_SAME_WAY_DOWN, _SAME_NEXT, _SAME_OUTPUTS = 4.0, 2.0, 1.0
_SAME_USERS, _SAME_GIVEN_NAME, _SAME_NAME = 1.0, 3.0, 0.5


@dataclass(frozen=True, slots=True)
class Meaning:
    """What fills a store and what is made of it, in numbers and words that don't depend on names.

    `family` groups operators that may replace one another, `given` is the name that the code gave
    to the operator, None where it is generated.
    """

    family: str
    users: tuple[str, ...]
    up: int
    down: int
    inputs: frozenset[str]
    outputs: frozenset[str]
    next: tuple[str, ...]
    given: str | None

    @property
    def whole(self) -> tuple[object, ...]:
        """All that distinguishes two stores; equal for twins."""
        return self.users, self.up, self.down


@dataclass(frozen=True, slots=True)
class StorePair:
    """Two stores of one meaning, or one that has no counterpart. `declared`: somebody said so."""

    before: StreamsStore | None
    after: StreamsStore | None
    declared: bool = False

    @property
    def location(self) -> Location:
        """The nodes of both."""
        return Location.between(self.before, self.after)


def meaning(flow: Flow, store: StreamsStore) -> Meaning | None:
    """Return what a store means; None where no described processor uses it."""
    key = store.topology or "", store.name
    if key not in flow.kept:
        flow.kept[key] = _meaning(flow, store)
    found: Meaning | None = flow.kept[key]
    return found


def _meaning(flow: Flow, store: StreamsStore) -> Meaning | None:
    users = flow.users(store)
    if not users:
        return None
    first = users[0]
    words = tuple(sorted(flow.word(k) for k in users))
    return Meaning(
        family=_family(flow.word(first)),
        users=words,
        up=flow.ways_up[first],
        down=flow.ways_down[first],
        inputs=_fed_by(flow, users),
        outputs=flow.outputs[first],
        next=following(flow, first),
        given=None if flow.nodes[first].is_generated else first[1],
    )


def _fed_by(flow: Flow, users: tuple[Key, ...]) -> frozenset[str]:
    """Return the inputs of all who write a store: several parts of a cogroup, or processors."""
    words = {flow.nodes[k].operator for k in users}
    if words <= UNREAD | {"process", "cogroup_aggregate"}:
        return frozenset[str]().union(*(flow.inputs[k] for k in users))
    return flow.inputs[users[0]]


def following(flow: Flow, key: Key) -> tuple[str, ...]:
    """Return what directly follows an operator, `toStream` skipped: it changes nothing."""
    found: list[str] = []
    for child in flow.below[key]:
        word = flow.word(child)
        found.extend(following(flow, child) if word == "to_stream" else [word])
    return tuple(sorted(found))


def _family(word: str) -> str:
    return next((name for name, words in _FAMILIES if word in words), word)


def pair_stores(old: Flow, new: Flow, renamed: Mapping[str, str]) -> tuple[StorePair, ...]:
    """Pair the stores of two versions: as declared, by a name that the code gave, by meaning.

    Last come stores of one generated name whose operators only have other names in the code. A
    store that only one version has is a pair without the other side. Every store is in exactly one
    pair.
    """
    left = {(s.topology, s.name): s for s in old.app.stores}
    right = {(s.topology, s.name): s for s in new.app.stores}
    pairs: list[StorePair] = []
    for key in list(left):
        target = (key[0], renamed.get(key[1], ""))
        if target in right:
            pairs.append(StorePair(left.pop(key), right.pop(target), declared=True))
    for key in [k for k, s in left.items() if k in right and not s.is_generated]:
        pairs.append(StorePair(left.pop(key), right.pop(key)))
    for was, now in _by_meaning(old, new, list(left.values()), list(right.values())):
        left.pop((was.topology, was.name))
        right.pop((now.topology, now.name))
        pairs.append(StorePair(was, now))
    for key in [k for k in left if k in right and _only_renamed(old, left[k], new, right[k])]:
        pairs.append(StorePair(left.pop(key), right.pop(key)))
    pairs.extend(StorePair(s, None) for s in left.values())
    pairs.extend(StorePair(None, s) for s in right.values())
    return tuple(pairs)


def _only_renamed(old: Flow, was: StreamsStore, new: Flow, now: StreamsStore) -> bool:
    """Say whether two stores of one name differ only in the names that the code gives."""
    before, after = meaning(old, was), meaning(new, now)
    if before is None or after is None or before.inputs != after.inputs:
        return False
    kinds = [
        [flow.nodes[k].operator for k in flow.users(s)] for flow, s in ((old, was), (new, now))
    ]
    return sorted(kinds[0]) == sorted(kinds[1]) and bool(UNREAD & {*kinds[0]})


_Indexed = dict[int, tuple[StreamsStore, "Meaning"]]


def _by_meaning(
    old: Flow, new: Flow, left: Sequence[StreamsStore], right: Sequence[StreamsStore]
) -> Iterator[tuple[StreamsStore, StreamsStore]]:
    """Yield pairs, the most alike first; of equally alike ones, those of one name first.

    Stores that share all that a step compares are found by it; only what is left over is compared
    one by one.
    """
    olds: _Indexed = {i: (s, m) for i, s in enumerate(left) if (m := meaning(old, s))}
    news: _Indexed = {i: (s, m) for i, s in enumerate(right) if (m := meaning(new, s))}
    for step in _STEPS:
        for i, j in list(_alike(olds, news, step)):
            yield olds.pop(i)[0], news.pop(j)[0]
    for i, j in _scored(olds, news):
        yield olds[i][0], news[j][0]


_STEPS: tuple[Callable[[Meaning], Hashable], ...] = (
    lambda m: m.whole,
    lambda m: (m.users, m.up, m.next, m.outputs),
    lambda m: (m.users, m.down, m.inputs),
    lambda m: (m.users, m.inputs, m.next),
)


def _alike(
    olds: _Indexed, news: _Indexed, step: Callable[[Meaning], Hashable]
) -> Iterator[tuple[int, int]]:
    """Yield the indices of stores that a step considers one: by name, then in numeric order."""
    groups: dict[Hashable, tuple[list[int], list[int]]] = {}
    for side, stores in enumerate((olds, news)):
        for index, (_, what) in stores.items():
            groups.setdefault(step(what), ([], []))[side].append(index)
    for before, after in groups.values():
        names = {news[j][0].name: j for j in after}
        same = {i: j for i in before if (j := names.get(olds[i][0].name)) is not None}
        yield from same.items()
        taken = set(same.values())
        rest = [j for j in after if j not in taken]
        yield from zip((i for i in before if i not in same), rest, strict=False)


def _scored(olds: _Indexed, news: _Indexed) -> Iterator[tuple[int, int]]:
    scored = sorted(
        (-alike, abs(i - j), i, j)
        for i, (b, was) in olds.items()
        for j, (a, now) in news.items()
        if (alike := similarity(was, now, b.name == a.name))
    )
    taken: tuple[set[int], set[int]] = set(), set()
    for _, _, i, j in scored:
        if i not in taken[0] and j not in taken[1]:
            taken[0].add(i)
            taken[1].add(j)
            yield i, j


def similarity(was: Meaning, now: Meaning, same_name: bool) -> float:
    """Return how alike two stores' meanings are; 0 where nothing that fills them is the same."""
    if was.family != now.family or not was.inputs & now.inputs:
        return 0.0
    up = _SAME_INPUTS if was.inputs == now.inputs else _SOME_INPUTS
    score = _SAME_WAY_UP if was.up == now.up else up
    if was.down == now.down:
        score += _SAME_WAY_DOWN
    else:
        score += _SAME_NEXT * (was.next == now.next)
        score += _SAME_OUTPUTS * (was.outputs == now.outputs)
    score += _SAME_USERS * (was.users == now.users)
    score += _SAME_GIVEN_NAME * (was.given is not None and was.given == now.given)
    return score + _SAME_NAME * same_name


def twins(flow: Flow) -> Mapping[tuple[str | None, str], tuple[StreamsStore, ...]]:
    """Return the stores that mean just the same as each one, itself among them, in their order.

    By topology and name; stores that no processor uses have none.
    """
    groups: dict[tuple[object, ...], list[StreamsStore]] = {}
    for store in flow.app.stores:
        if what := meaning(flow, store):
            groups.setdefault(what.whole, []).append(store)
    return {(s.topology, s.name): tuple(alike) for alike in groups.values() for s in alike}
