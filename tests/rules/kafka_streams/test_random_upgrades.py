"""Random edits of random applications: a verdict must follow from who finds whose state by name.

The describer numbers nodes as StreamsBuilder does, one counter in the order of the code, and knows
which aggregate is which; the verdict is given the text only.
"""

import random
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count

import pytest

from headgate.rules.compare.compare_versions import compare
from headgate.rules.core.report import Outcome
from rules.kafka_streams.applications import application

_UP = {"filter": "FILTER", "map values": "MAPVALUES", "peek": "PEEK"}
_DOWN = {"map": "MAP", "map values": "MAPVALUES", "filter": "FILTER"}


@dataclass(frozen=True)
class Branch:
    """One aggregate from a source to a sink; `id` is what it means, `name` None where generated."""

    id: int
    source: str
    up: tuple[str, ...]
    name: str | None
    down: tuple[str, ...]
    sink: str

    @property
    def path(self):
        return self.source, self.up, self.down, self.sink


class Code:
    """Makes branches and edits from one seed."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)
        self.ids = count(1)

    def branch(self) -> Branch:
        pick, number = self.rng.choice, next(self.ids)
        return Branch(
            id=number,
            source=pick("ab"),
            up=tuple(pick([*_UP]) for _ in range(pick([0, 0, 1, 2]))),
            name=pick([None, None, f"store-{number}"]),
            down=tuple(pick([*_DOWN]) for _ in range(pick([1, 2]))),
            sink=pick(["x", "y", "z"]),
        )

    def application(self) -> list[Branch]:
        return [self.branch() for _ in range(self.rng.randint(1, 4))]

    def edited(self, branches: list[Branch]) -> list[Branch]:
        out, at = [*branches], self.rng.randrange(len(branches))
        match self.rng.choice(["operator", "behind", "add", "remove", "swap", "name"]):
            case "operator":
                out[at] = replace(out[at], up=(self.rng.choice([*_UP]), *out[at].up))
            case "behind":
                out[at] = replace(out[at], down=(*out[at].down, "filter"))
            case "add":
                out.insert(self.rng.randint(0, len(out)), self.branch())
            case "remove" if len(out) > 1:
                out.pop(at)
            case "swap":
                other = self.rng.randrange(len(out))
                out[at], out[other] = out[other], out[at]
            case "name":
                out[at] = replace(out[at], name=None if out[at].name else f"named-{out[at].id}")
        return out


def described(branches: list[Branch]) -> tuple[str, dict[int, str]]:
    """Return the description, and the store's name by what the aggregate means."""
    numbers, sources, stores = count(), {}, {}
    for b in branches:
        if b.source not in sources:
            sources[b.source] = (f"KSTREAM-SOURCE-{next(numbers):010d}", [], [])
        name, children, lines = sources[b.source]
        nodes = [(f"KSTREAM-{_UP[o]}-{next(numbers):010d}", "") for o in b.up]
        stores[b.id] = b.name or f"KSTREAM-AGGREGATE-STATE-STORE-{next(numbers):010d}"
        nodes.append((f"KSTREAM-AGGREGATE-{next(numbers):010d}", stores[b.id]))
        nodes.append((f"KTABLE-TOSTREAM-{next(numbers):010d}", ""))
        nodes += [(f"KSTREAM-{_DOWN[o]}-{next(numbers):010d}", "") for o in b.down]
        children.append(nodes[0][0])
        lines += _lines(name, nodes, f"KSTREAM-SINK-{next(numbers):010d}", b.sink)
    text = ["Topologies:"]
    for i, (topic, (name, children, lines)) in enumerate(sources.items()):
        text += [f"   Sub-topology: {i}", f"    Source: {name} (topics: [{topic}])"]
        text += [f"      --> {', '.join(children)}", *lines, ""]
    return "\n".join(text), stores


def _lines(source: str, nodes: list[tuple[str, str]], sink: str, topic: str) -> Iterator[str]:
    names = [source, *(n for n, _ in nodes), sink]
    for i, (name, store) in enumerate(nodes, start=1):
        yield f"    Processor: {name} (stores: [{store}])"
        yield f"      --> {names[i + 1]}"
        yield f"      <-- {names[i - 1]}"
    yield f"    Sink: {sink} (topic: {topic})"
    yield f"      <-- {names[-2]}"


def truth(old: dict[int, str], new: dict[int, str]) -> Outcome:
    """State is lost where a name changed, and adopted where the name went to another aggregate."""
    lost = any(old[i] != new[i] for i in old.keys() & new.keys())
    adopted = any(old[i] == new[j] for i in old for j in new if i != j)
    return Outcome.SILENTLY_WRONG if lost or adopted else Outcome.RESUMES


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(80))
def test_a_random_edit(seed, tmp_path):
    code = Code(seed)
    before = code.application()
    after = code.edited(before)
    (old_text, old), (new_text, new) = described(before), described(after)
    alike = any(len({b.path for b in side}) < len(side) for side in (before, after))
    topics = {"a": 2, "b": 2}
    outcome = compare(
        application(tmp_path / "1", old_text, {}, topics),
        application(tmp_path / "2", new_text, {}, topics),
    ).outcome
    if old_text == new_text:
        assert outcome is Outcome.UNKNOWN
    elif alike:
        # Aggregates that do the same can be told apart by their numbers only.
        assert outcome in {truth(old, new), Outcome.UNKNOWN}
    else:
        assert outcome is truth(old, new)
