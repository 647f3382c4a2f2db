"""Changes of a Kafka Streams description, its configuration and its inputs."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

from .bases import CASES
from .mutant import HARM, HARMLESS, MIXED, NO, OK, Base, Mutant, R, U, W

_STORES = re.compile(r"\(stores: \[([^\]]+)\]\)")
_NUMBER = re.compile(r"-(\d{10})(?=\b|-)")
_NODE = re.compile(r"(?m)^    (?:Source|Processor|Sink): (\S+) ")
_PROCESSOR = re.compile(
    r"(?m)^    Processor: (?P<name>\S+) \(stores: \[[^\]]*\]\)\n(?P<to>      --> .*)\n"
)
_TOPICS = re.compile(r"(?<=\(topics: \[)([^\]]+)(?=\])")
_SINK = re.compile(r"(?<=\(topic: )([^)\s]+)(?=\))")
# What is not of data: clients' names, sizes of buffers, metrics.
IDLE = {
    "client.id": "another",
    "metrics.recording.level": "DEBUG",
    "poll.ms": "50",
    "retry.backoff.ms": "200",
    "receive.buffer.bytes": "65536",
    "rack.aware.assignment.strategy": "none",
}
DECISIVE = {
    "application.id": ("another-application", {W, U}),
    "processing.guarantee": ("exactly_once_v2", MIXED),
    "topology.optimization": ("all", MIXED | {NO}),
    "default.key.serde": ("org.example.OtherSerde", {U, W, R}),
    "default.value.serde": ("org.example.OtherSerde", {U, W, R}),
    "default.timestamp.extractor": ("org.example.OtherExtractor", {U, W}),
    "group.protocol": ("streams", MIXED),
    "state.dir": ("/elsewhere/state", MIXED),
    "auto.offset.reset": ("latest", {U, W, NO, OK}),
    "dsl.store.format": ("HEADERS", MIXED),
    "default.dsl.store": ("in_memory", MIXED),
    "deserialization.exception.handler": (
        "org.apache.kafka.streams.errors.LogAndContinueExceptionHandler",
        MIXED,
    ),
    "max.task.idle.ms": ("5000", MIXED | {NO}),
    "windowstore.changelog.additional.retention.ms": ("1", {NO, OK, U}),
    "replication.factor": ("3", {NO, OK, U}),
    "num.standby.replicas": ("1", MIXED | {NO}),
}


def bases() -> Iterator[Base]:
    """Yield the old version of every measured upgrade that has a description."""
    for folder in sorted([*CASES.glob("kafka_streams/*"), *CASES.glob("streams_fresh/*")]):
        before = folder / "before"
        if (before / "describe.txt").exists():
            files = {p.name: p.read_text() for p in sorted(before.iterdir()) if _is_new(p)}
            forms = {"describe": ("describe.txt", files["describe.txt"])}
            yield Base(f"{folder.parent.name}/{folder.name}", (before,), forms, files)


def _is_new(path: Path) -> bool:
    """What nobody knows beforehand is no evidence of a new version."""
    return path.is_file() and path.name in ("describe.txt", "config.json", "input_topics.json")


def mutants(base: Base) -> Iterator[Mutant]:
    """Yield changed descriptions, settings and numbers of partitions."""
    text = base.session["describe.txt"]
    logged = _logged(base)
    yield Mutant("streams: unchanged", "nothing", base.session, HARMLESS, told=False)
    for kind, what, changed, allowed, told in _described(text, logged):
        if changed != text:
            files = {**base.session, "describe.txt": changed}
            yield Mutant(f"streams: {kind}", what, files, frozenset(allowed), told)
    config = json.loads(base.session.get("config.json", "{}"))
    for key, value in IDLE.items():
        files = {**base.session, "config.json": json.dumps({**config, key: value})}
        yield Mutant("streams: idle setting", key, files, HARMLESS, told=False)
    for key, (value, allowed) in DECISIVE.items():
        if config and config.get(key) != value:
            files = {**base.session, "config.json": json.dumps({**config, key: value})}
            yield Mutant(f"streams: {key}", value, files, frozenset(allowed))
    inputs = json.loads(base.session.get("input_topics.json", "{}"))
    for topic, count in inputs.items():
        if isinstance(count, int) and topic in text:
            files = {**base.session, "input_topics.json": json.dumps({**inputs, topic: count + 3})}
            yield Mutant("streams: input partitions", topic, files, MIXED)


def _logged(base: Base) -> str:
    found = base.before[0] / "internal_topics.json"
    return found.read_text() if found.exists() else ""


def _described(text: str, logged: str) -> Iterator[tuple]:
    stores = sorted({s.strip() for found in _STORES.findall(text) for s in found.split(",")})
    kept = [s for s in stores if f"-{s}-changelog" in logged]
    for store in stores:
        allowed = HARM if store in kept else MIXED
        yield "store renamed", store, _named(text, store, "another-store"), allowed, True
    for i, one in enumerate(kept):
        for two in kept[i + 1 :]:
            changed = _named(_named(_named(text, one, "\0"), two, one), "\0", two)
            yield "stores exchanged", f"{one} and {two}", changed, HARM, True
    for found in _PROCESSOR.finditer(text):
        changed = _inserted(text, found)
        moved = any(_NUMBER.search(s) and s not in changed for s in kept)
        yield "node inserted", f"after {found['name']}", changed, HARM if moved else MIXED, True
    for topics in dict.fromkeys(_TOPICS.findall(text)):
        if "repartition" in topics:
            other = topics.replace("-repartition", "-two-repartition")
            yield "repartition renamed", topics, text.replace(topics, other), MIXED, True
            continue
        other = re.sub(rf"(?<=\[){re.escape(topics)}(?=\])", "another-input", text)
        yield "input replaced", topics, other, MIXED, True
        more = re.sub(rf"(?<=\[){re.escape(topics)}(?=\])", f"{topics}, another-input", text)
        yield "input added", topics, more, MIXED, True
        if ", " in topics:
            fewer = topics.split(", ")[1:]
            changed = text.replace(f"[{topics}]", f"[{', '.join(fewer)}]")
            yield "input removed", topics, changed, MIXED, True
    for topic in dict.fromkeys(_SINK.findall(text)):
        if "repartition" not in topic:
            changed = text.replace(f"(topic: {topic})", "(topic: another-output)")
            yield "output replaced", topic, changed, MIXED, True
    for name in dict.fromkeys(_NODE.findall(text)):
        if not _NUMBER.search(name) and f"{name}-repartition" not in text:
            allowed = HARMLESS | {U}
            yield "processor renamed", name, _named(text, name, "another-name"), allowed, False


def _named(text: str, old: str, new: str) -> str:
    return re.sub(rf"(?<![\w.-]){re.escape(old)}(?![\w.-])", new, text)


def _inserted(text: str, at: re.Match[str]) -> str:
    """Return a description with a filter behind a processor: all later numbers grow by one."""
    number = _NUMBER.search(at["name"])
    first = int(number[1]) + 1 if number else 0
    filter_ = f"KSTREAM-FILTER-{first:010d}"

    def later(found: re.Match[str]) -> str:
        value = int(found[1])
        return f"-{value + 1:010d}" if value >= first else found[0]

    shifted = _NUMBER.sub(later, text)
    name = _NUMBER.sub(later, at["name"])
    next_ = _NUMBER.sub(later, at["to"]).split("--> ")[1]
    if next_ == "none":
        return text
    old = re.search(rf"(?m)^    Processor: {re.escape(name)} .*\n      --> .*\n", shifted)
    if old is None:
        return text
    head = old[0].split("\n")[0]
    made = (
        f"{head}\n      --> {filter_}\n",
        f"    Processor: {filter_} (stores: [])\n      --> {next_}\n      <-- {name}\n",
    )
    above = re.match(r"      <-- .*\n", shifted[old.end() :])
    tail = shifted[old.end() + (above.end() if above else 0) :]
    for follower in next_.split(", "):
        head = rf"(?m)(^    \w+: {re.escape(follower)} .*\n(?:      -->.*\n)?      <-- .*?)"
        tail = re.sub(rf"{head}{re.escape(name)}(?![\w-])", rf"\g<1>{filter_}", tail)
    return shifted[: old.start()] + made[0] + (above[0] if above else "") + made[1] + tail
