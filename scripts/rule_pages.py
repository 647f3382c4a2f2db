"""Write a page for every rule into `docs/rules`: `rule_pages.py [--check]`.

A rule's docstring is its reason, and it declares what its findings say to do, what they ask, and
which outcomes or severities they have. `--check` writes nothing and fails if a page is not current.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
import tomllib
from functools import cache
from pathlib import Path
from typing import Any

from headgate.model.topic_schema import Effect
from headgate.rules.catalogue import rules_by_kind
from headgate.rules.core.report import Outcome
from headgate.rules.core.rule import NamedRule
from headgate.rules.readiness.facts.report import Severity
from headgate.rules.readiness.facts.rule import ReadinessRule
from headgate.rules.topic_schemas.facts.rule import SchemaRule

FOLDER = Path(__file__).parents[1] / "docs" / "rules"
EXAMPLES = Path(__file__).with_name("rule_examples")
CAPTIONS = Path(__file__).with_name("rule_captions.toml")
RECORDED = "tests/cases/"
NO_EXAMPLE = "There is no recorded example yet."
_MARKUP = re.compile(r"([*_<\[\]])")
_MEASURED = "measured"
# A changed line of a session setting, of an application's setting, or of an option.
_SETTING = re.compile(
    r"^[-+] (?!warnings)((?:spark|sink|trigger|(?:sources|parsed)\[\d+\]\.(?:options|mode)|[a-z]+)"
    r"(?:\.[A-Za-z][\w.]*)?): "
)
_FIELD = re.compile(r"(?<!\$)\{(\w+)(?:[!:][^{}]*)?\}")
# What evidence may not show; any other setting has a default value.
_SHOWN = re.compile(r"keys$|window\.|sink\.(?:format|target)$")
# What a page writes for the fields of a remedy or a question; for all others an ellipsis.
_PLACEHOLDERS = {
    **dict.fromkeys(("side", "words"), "old or new"),
    **dict.fromkeys(("number", "position", "batches"), "N"),
    **dict.fromkeys(("topic", "topics", "restored_from"), "TOPIC"),
    **dict.fromkeys(("store", "now"), "STORE"),
    **dict.fromkeys(("was", "old"), "OLD_STORE"),
    **dict.fromkeys(("key", "said"), "SETTING"),
    **dict.fromkeys(("code", "name"), "FUNCTION"),
    "alike": "STORES",
    "base": "NAME",
    "changelog": "CHANGELOG",
    "done": "is new or was removed",
    "limits": "OPTION",
    "named": "OPERATORS",
    "names": "NAMES",
    "path": "FIELD",
    "pipeline": "PIPELINE",
    "replace": "OPERATOR_1",
    "replace_2": "OPERATOR_2",
    "span": "TIME",
    "stored": "STORED_PARTITIONS",
    "table": "TABLE",
    "text": "RELEASE",
    "to": "NEW_FOLDER",
    "values": "VALUES",
    "versions": "VERSION",
    "what": "OPERATOR",
}
_SEVERITIES = {
    Severity.HIGH: "`high`: records or state are lost, results are wrong, or the pipeline stays "
    "down",
    Severity.MEDIUM: "`medium`: a long recovery, duplicate or wrong results, or manual steps after "
    "a reset, an upgrade, a failover or a fault",
    Severity.LOW: "`low`: a smaller risk, or extra work that you can plan",
}
_OUTCOMES = {
    Outcome.REFUSES: "`refuses`: the new version fails to start, or fails in its first batch",
    Outcome.SILENTLY_WRONG: "`silently_wrong`: the new version starts and writes wrong results",
    Outcome.UNKNOWN: "`unknown`: the evidence isn't enough to decide; the finding asks a question",
    Outcome.NO_EFFECT: "`no_effect`: the new version resumes, and the engine ignores the change",
    Outcome.RESUMES: "`resumes`: the new version continues; the finding shows the effect on state",
}
_EFFECTS = {
    Effect.INCOMPATIBLE: "`incompatible`: consumers fail, and a schema registry rejects the schema",
    Effect.SILENTLY_WRONG: "`silently_wrong`: consumers read a default, null or a value with "
    "another meaning, and schema registries accept the schema",
    Effect.UNKNOWN: "`unknown`: the schemas aren't enough to decide; the finding asks a question",
    Effect.COMPATIBLE: "`compatible`: consumers read every record correctly",
}
_COMMANDS = {
    "Readiness": "headgate check PIPELINE",
    "Schemas": "headgate schemas check orders --new orders-2.avsc",
    "Twin runs": "headgate rehearse --before orders_v1:build --after orders:build",
    "Twin runs of Kafka Streams": "headgate rehearse --before-jar old.jar --jar new.jar "
    "--after com.acme.Orders#topology --properties app.properties",
}
# By the first digit of a rule about two schemas: the endings of the old and the new file.
_SCHEMA_FILES = {
    "0": ("avsc", "json"),
    "1": ("avsc", "avsc"),
    "2": ("proto", "proto"),
    "3": ("json", "json"),
}
_DIFF = "headgate diff --before pipelines/orders.headgate.json --after sales.orders:build"
_NOTHING = "No action needed."
_STREAMS = "headgate diff --before old/ --after new/"


def pages() -> dict[str, str]:
    """Return the text of every page by its file's name, the index among them."""
    found = {
        f"{r.code}.md": _page(r, kind) for kind, rules in rules_by_kind().items() for r in rules
    }
    return {**found, "README.md": _index()}


def _index() -> str:
    lines = [
        "# Rules",
        "",
        "Every finding names its rule by a code. To accept a finding, add its code, a reason and a",
        "last day to `headgate.toml` ([how](../ci.md)). The pages are generated from the rules.",
    ]
    for kind, rules in rules_by_kind().items():
        lines += ["", f"## {kind}", "", "| Code | Rule | What it does |", "|---|---|---|"]
        lines += [
            f"| [{r.code}]({r.code}.md) | {_capital(r.title)} | {_cell(r)} |"
            for r in _sorted(rules)
        ]
    return "\n".join(lines) + "\n"


def _sorted(rules: tuple[NamedRule, ...]) -> list[NamedRule]:
    return sorted(rules, key=lambda r: r.code)


def _cell(rule: NamedRule) -> str:
    first, stop, _ = rule.why.partition(". ")
    return f"{first}{stop.strip()}".replace("|", "\\|")


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def _page(rule: NamedRule, kind: str) -> str:
    paragraphs = (inspect.getdoc(rule.check) or rule.why).split("\n\n")
    what, *why = (" ".join(p.split()) for p in paragraphs)
    lines = [f"# {rule.code}: {_capital(rule.title)}", "", "## What it does", "", what]
    if why:
        lines += ["", "## Why is this bad?"]
    lines += [line for text in why for line in ("", text)]
    lines += ["", "## Example", *_example(examples().get(rule.code))]
    said = outcomes(rule)
    lines += ["", "## Outcomes", "", *(f"- {o}" for o in said)]
    if rule.questions:
        lines += ["", "## What it asks", "", *(f"- {_shown(q)}" for q in rule.questions)]
    lines += ["", "## What to do", ""]
    lines += [f"- {_shown(text)}" for text in rule.remedies] or [_NOTHING]
    lines += ["", "To check again:", "", "```sh", _command(rule, kind), "```"]
    if kind in ("Spark", "Kafka Streams", "Any engine", "Readiness"):
        lines += ["", "To accept a finding, add it to `headgate.toml`:", ""]
        lines += ["```toml", "[[accept]]", f'rule = "{rule.code}"']
        lines += ['reason = "why it has no effect here"', "until = 2027-06-30", "```"]
    lines += ["", "## Source", "", _source(rule)]
    return "\n".join([*lines, "", f"[All rules](README.md) · {kind}"]) + "\n"


@cache
def examples() -> dict[str, dict[str, Any]]:
    """Return by rule the change that it reports and the one that passes.

    `python -m rules.examples` (tests/rules/examples) cuts them out of recorded cases and tests.
    """
    found: dict[str, dict[str, Any]] = {}
    for path in sorted(EXAMPLES.glob("*.json")):
        found |= json.loads(path.read_text(encoding="utf-8"))
    return found


@cache
def captions() -> dict[str, str]:
    """Return what changed in each recorded restart that a page shows, by the case's name."""
    told = tomllib.loads(CAPTIONS.read_text(encoding="utf-8"))
    return {
        f"{RECORDED}{folder}/{name}": text
        for folder, of_folder in told.items()
        for name, text in of_folder.items()
    }


def _example(example: dict[str, Any] | None) -> list[str]:
    if example is None:
        return ["", NO_EXAMPLE]
    reported, passes = example["reported"], example["passes"]
    cases = list(dict.fromkeys(f"`{side['case']}`" for side in (reported, passes)))
    is_recorded = reported["case"].startswith(RECORDED)
    origin = "Headgate's recorded restarts" if is_recorded else "Headgate's tests"
    return [
        *_half("Reported", reported),
        *_half("Passes", passes),
        "",
        f"Source of the example: {origin}, {' and '.join(cases)}.",
    ]


def _half(title: str, side: dict[str, Any]) -> list[str]:
    lines = _both_sides(side["lines"])
    marked = any(line[0] in "-+" for line in lines)
    change = captions().get(side["case"]) or side["change"]
    out = ["", f"**{title}**: {change or _caption(title, marked, bool(lines))}"]
    if lines:
        out += ["", "```diff" if marked else "```text", *lines, "```"]
    told = " ".join(filter(None, (_escaped(side["said"]), side["did"])))
    return [*out, "", told] if told else out


def _both_sides(lines: list[str]) -> list[str]:
    """Return the lines of a change; if only one version sets an option, also those of the other.

    A plan's operators and a schema's fields have no other side if they are added or removed.
    """
    signs = {line[0] for line in lines}
    found = [_SETTING.match(line) for line in lines]
    if signs not in ({"-"}, {"+"}) or not all(found):
        return lines
    other = "+" if signs == {"-"} else "-"
    names = [setting[1] for setting in found if setting]
    unset = [f"{other} {n}: (not {'shown' if _SHOWN.match(n) else 'set'})" for n in names]
    pairs = zip(unset, lines, strict=True) if other == "-" else zip(lines, unset, strict=True)
    return [line for pair in pairs for line in pair]


def _caption(title: str, is_change: bool, has_lines: bool) -> str:
    """Return the caption of an example from a test, which has no description of its own."""
    if not has_lines:
        return "The same version restarts unchanged."
    verb = "reports" if title == "Reported" else "doesn't report"
    return f"The rule {verb} {'this change' if is_change else 'a version with these facts'}."


def _escaped(text: str) -> str:
    """Return a sentence of a finding for Markdown: what is in backticks stays as it is."""
    parts = text.split("`")
    return "`".join(p if n % 2 else _MARKUP.sub(r"\\\1", p) for n, p in enumerate(parts))


def _shown(template: str) -> str:
    """Return a remedy or a question with placeholders for what the case fills in."""
    text = (
        _FIELD.sub(lambda found: _PLACEHOLDERS.get(found[1], "..."), template)
        .replace("{{", "{")
        .replace("}}", "}")
    )
    text = text.replace("....", "...").removeprefix("... ")
    return _capital(text)


def _command(rule: NamedRule, kind: str) -> str:
    files = _SCHEMA_FILES.get(rule.code.removeprefix("SCH")[:1]) if kind == "Schemas" else None
    if files is not None:
        old, new = files
        return f"headgate schemas diff --before orders-1.{old} --after orders-2.{new}"
    return _COMMANDS.get(kind, _STREAMS if kind == "Kafka Streams" else _DIFF)


def _source(rule: NamedRule) -> str:
    if rule.source.startswith("http"):
        return f"<{rule.source}>"
    if rule.source != _MEASURED:
        return f"{_capital(rule.source)}."
    return "Measured: restarts of changed queries on Spark 4.2, many also on 3.5 and 4.0."


def outcomes(rule: NamedRule) -> list[str]:
    """Return what a rule can say, worst first, in words."""
    if isinstance(rule, SchemaRule):
        return [_EFFECTS[rule.effect]]
    if isinstance(rule, ReadinessRule):
        return [text for severity, text in _SEVERITIES.items() if severity in rule.severities]
    return [text for outcome, text in _OUTCOMES.items() if outcome in rule.outcomes]


def stale(current: dict[str, str]) -> list[str]:
    """Return the names of pages that are missing, not current, or of no rule any more."""
    there = {p.name: p.read_text(encoding="utf-8") for p in FOLDER.glob("*.md")}
    return sorted(n for n in current.keys() | there.keys() if current.get(n) != there.get(n))


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are not current."""
    current = pages()
    old = stale(current)
    if arguments == ["--check"]:
        print("\n".join(old))
        return 1 if old else 0
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name in old:
        if name in current:
            (FOLDER / name).write_text(current[name], encoding="utf-8")
        else:
            (FOLDER / name).unlink()
    bare = sum(NO_EXAMPLE in text for text in current.values())
    print(
        f"{len(current) - 1} rules, {len(old)} pages written or removed, {bare} without an example"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
