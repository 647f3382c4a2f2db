"""The lines in which two pieces of evidence differ, short enough for a page."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import msgspec

MOST = 8  # lines of one half of an example
WIDEST = 160  # characters of a line
UNSET = "(not set)"
# Of a long line: so much of its begin, and of what is in front of the first difference.
_HEAD, _LEAD = 40, 30

# Numbers, ids and places that are other in every run, and decide nothing.
_NOISE = (
    (re.compile(r"#\d+L?"), ""),
    (re.compile(r"_w\d+\b"), ""),
    (re.compile(r" \[codegen id : \d+\]"), ""),
    (re.compile(r" \[\d+\]:"), ":"),
    (re.compile(r", \[plan_id=\d+\]"), ""),
    (re.compile(r", ?state info \[.*?\] stateStoreCkptIds = None"), ""),
    (re.compile(r"/data/\w+/main|/tmp/[\w./-]+?/main"), "/data"),
    (re.compile(r"\b(?:ks_[a-z0-9]+|f\d+u)_"), ""),
    (re.compile(r"\btruth_\w+?_(?=main)"), ""),
    (re.compile(r" \(stores: \[\]\)$"), ""),
    (re.compile(r", -9223372036854775808"), ""),
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "ID"),
)
_DETAIL = re.compile(r"^\((\d+)\) (\w+)")
# What repeats another line, or only counts.
_SKIPPED = ("Input", "Aggregate Attributes", "Results", "Output [0]")
_REPEATING = ("Exchange", "StateStoreRestore", "StateStoreSave")
_PARTIAL = re.compile(r"\b(?:partial|merge)_")


def clean(line: str) -> str:
    """Return a line without what is other in every run."""
    for pattern, instead in _NOISE:
        line = pattern.sub(instead, line)
    return line.strip()


def plan_lines(text: str) -> list[str]:
    """Return what the operators of `EXPLAIN FORMATTED` do, one line a detail, sources first."""
    out: list[str] = []
    name = ""
    for line in text.partition("\n\n\n")[2].splitlines():
        if head := _DETAIL.match(line):
            name = head[2]
        elif line.strip() and name not in _REPEATING and not _repeats(line):
            out.append(f"{name} {clean(line)}")
    return list(dict.fromkeys(out))


def _repeats(line: str) -> bool:
    return line.startswith(_SKIPPED) or bool(_PARTIAL.search(line))


def topology_lines(text: str) -> list[str]:
    """Return the nodes of a described topology, without the arrows between them."""
    given = (line.strip() for line in text.splitlines())
    return [clean(line) for line in given if line and not line.startswith(("-->", "<--"))]


def flat(value: Any, key: str = "") -> dict[str, str]:
    """Return nested values as {path: text}, without what is empty."""
    if isinstance(value, Mapping):
        if value.keys() >= {"name", "type"} and value.keys() <= {"name", "type", "nullable"}:
            null = "" if value.get("nullable", True) else " not null"
            return {key: f"{value['name']} {json.dumps(value['type']).strip(chr(34))}{null}"}
        parts = ((f"{key}.{k}" if key else str(k), v) for k, v in value.items())
    elif isinstance(value, (list, tuple)):
        if value and not any(isinstance(v, (Mapping, list, tuple)) for v in value):
            return {key: ", ".join(map(str, value))}
        parts = ((f"{key}[{n}]", v) for n, v in enumerate(value))
    else:
        text = str(value).lower() if isinstance(value, bool) else str(value)
        return {} if value is None else {key: text}
    return {k: v for path, inner in parts for k, v in flat(inner, path).items()}


_UNTOLD = re.compile(
    r"^(?:topology|evidence|location|captured_at|faults\[\d+\]\.what)|(?:^|\.)(?:node|position|operator_id"
    r"|advanced|proven|(?:processors|partitions)\[\d+\]\.number)$"
)
_WHOLE = re.compile(r"^(?:cluster\.)?(?:topics|groups)\.[^.]+\.")
_SHORTER = (
    (re.compile(r"^streams\.config\."), ""),
    (re.compile(r"^streams\."), ""),
    (re.compile(r"^settings\."), ""),
    (re.compile(r"^pinned\."), "checkpoint: "),
    (re.compile(r"^faults\[\d+\]\.kind"), "checkpoint: fault"),
    (re.compile(r"^stateful\[0\]\."), ""),
    (re.compile(r"^stores\[0\]\.(?=key|value|part)"), "state: "),
)
# What only the version has that ran: its checkpoint, and the topics that it left on the broker.
_LEFT_BEHIND = re.compile(
    r"^(?:progress|query_id|checkpoint|internal|offset_log|topic_ids|sources\[\d+\]\.(?:start_)?offsets)"
)


def facts(value: Any) -> dict[str, str]:
    """Return what a version (or a cluster, or another frozen value) says, as {path: text}."""
    found = flat(msgspec.to_builtins(value, order="deterministic"))
    told = {_short(k): clean(v) for k, v in found.items() if not _UNTOLD.search(k) and v != ""}
    return told


def operators(value: Any) -> dict[str, str]:
    """Return what the operators of a version's graph do, from the source on."""
    labels = [n.label for n in value.topology.nodes]
    return {f"operator {n}": clean(label) for n, label in enumerate(labels)}


def _short(key: str) -> str:
    for pattern, instead in _SHORTER:
        key = pattern.sub(instead, key)
    head, options, name = key.partition(".options.")
    return f"{head}{options}{name.lower()}" if options else key


def changed_lines(before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Return the lines that only one side has, `-` and `+` in front, in their order."""
    out: list[str] = []
    for tag, a, b, c, d in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        if tag != "equal":
            old, new = _narrowed(before[a:b], after[c:d])
            out += [f"- {line}" for line in old] + [f"+ {line}" for line in new]
    moved = {line[2:] for line in out if line[0] == "-"} & {
        line[2:] for line in out if line[0] == "+"
    }
    kept = [line for line in out if line[2:] not in moved] or out
    return list(dict.fromkeys(kept))


def _narrowed(old: Sequence[str], new: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return the lines, long pairs cut down to the place where they differ."""
    before, after = list(old), list(new)
    for n, (one, other) in enumerate(zip(old, new, strict=False)):
        same = next((i for i, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
        if max(len(one), len(other)) > WIDEST and same > _HEAD + _LEAD:
            before[n], after[n] = (f"{x[:_HEAD]} ... {x[same - _LEAD :]}" for x in (one, other))
    return before, after


def changed_facts(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Return the facts that differ, `-` and `+` in front; what the new one can't have is not."""
    out: list[str] = []
    for key in dict.fromkeys([*before, *after]):
        left_behind = key not in after and _LEFT_BEHIND.match(key)
        if before.get(key) != after.get(key) and not left_behind:
            out += [f"- {key}: {before[key]}"] if key in before else []
            out += [f"+ {key}: {after[key]}"] if key in after else []
    return out


def beside(these: Mapping[str, str], others: Mapping[str, str]) -> list[str]:
    """Return the facts of `these` that `others` don't have so."""
    keys = [k for k in dict.fromkeys([*these, *others]) if these.get(k) != others.get(k)]
    return list(dict.fromkeys(_told(these, k) for k in keys))


def _told(these: Mapping[str, str], key: str) -> str:
    """Return one fact; of a topic or a group that is not there, only that."""
    whole = _WHOLE.match(key)
    if key in these or whole is None or any(k.startswith(whole[0]) for k in these):
        return f"{key}: {these.get(key, UNSET)}"
    return f"{whole[0].rstrip('.')}: (none)"


def cut(lines: Iterable[str], words: Iterable[str] = (), most: int = MOST) -> list[str]:
    """Return at most so many lines, those first that have one of the words, in their order."""
    given = list(lines)
    wanted = [w for w in words if len(w) > 1]
    ranked = sorted(range(len(given)), key=lambda n: (not any(w in given[n] for w in wanted), n))
    return [_narrow(given[n]) for n in sorted(ranked[:most])]


def _narrow(line: str) -> str:
    return line if len(line) <= WIDEST else f"{line[: WIDEST - 4].rstrip()} ..."


def evidence_changes(case: Path) -> dict[str, list[str]]:
    """Return the differing lines of each file that both versions of a recorded case have."""
    out: dict[str, list[str]] = {}
    for name in ("formatted.txt", "describe.txt"):
        texts = [case / side / name for side in ("before", "after")]
        if all(t.exists() for t in texts):
            read = plan_lines if name == "formatted.txt" else topology_lines
            out[name] = changed_lines(*(read(t.read_text(encoding="utf-8")) for t in texts))
    for name in ("capture.json", "conf.json", "config.json", "input_topics.json"):
        files = [case / side / name for side in ("before", "after")]
        if all(f.exists() for f in files):
            given = [flat(json.loads(f.read_text(encoding="utf-8"))) for f in files]
            cleaned = [{clean(k): clean(v) for k, v in g.items()} for g in given]
            out[name] = changed_facts(*cleaned)
    return {name: lines for name, lines in out.items() if lines}
