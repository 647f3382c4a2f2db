"""Write `docs/scenarios.md` from the scenarios' declarations: `scenario_pages.py [--check]`.

What a scenario asks and which engines it is for are its declaration. Its steps are those that its
builder can make, each with the first sentence of its class and of its `undo`; its risks are the
texts of the functions that name them. `--check` writes nothing and fails where the page is not
current.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import cast

from headgate.model.version import Engine
from headgate.reprocess.output_effects import Fact, Statement
from headgate.reprocess.scenario import Answer, Option, Scenario, Support
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.reprocess.scenarios.shared.output_statements import STATEMENTS
from headgate.reprocess.scenarios.shared.state_losses import LOSSES
from headgate.reprocess.steps import all_steps
from headgate.reprocess.steps.base.step import Step

FILE = Path(__file__).parents[1] / "docs" / "scenarios.md"
ENGINES = {engine: engine.full_name for engine in Engine}
# What a cell of the table of engines says.
WORDS = {Answer.SUPPORTED: "yes", Answer.NEEDS: "needs", Answer.REFUSED: "no"}
_SCENARIOS = "headgate.reprocess.scenarios"
# One builder of steps is used below the scenarios, too.
_REPROCESS = (_SCENARIOS, "headgate.reprocess.remote_checkpoint")
_STEPS = "headgate.reprocess.steps"
_GAPS = {"name": "PIPELINE", "to": "OUTPUT", "point": "POINT"}
# What a value of a risk is called, by its expression; after `module:` only in that module.
_VALUES = {
    "pipeline.name": "PIPELINE",
    "request.pipeline.name": "PIPELINE",
    "member.name": "PIPELINE",
    "seen.application": "PIPELINE",
    "growth.application": "PIPELINE",
    "rewind.points:name": "PIPELINE",
    "skip_records.spark:name": "PIPELINE",
    "bounded.consumer_group:name": "PIPELINE",
    "online_upgrade.spark:name": "PIPELINE",
    "pipeline": "PIPELINE",
    "name": "TOPIC",
    "names": "TOPICS",
    "topic": "TOPIC",
    "deleted_words(topic)": "Kafka has deleted the first records of TOPIC (N offsets)",
    "deleted_words(topics[name])": "Kafka has deleted the first records of TOPIC (N offsets)",
    "consumer_group:lost": "Kafka has deleted up to N records of TOPIC that weren't processed",
    "bounded.spark:lost": "Kafka has deleted up to N records of TOPIC that weren't processed",
    "time_range:before": " with Kafka timestamps before TIME",
    "topic.name": "TOPIC",
    "chosen.topic": "TOPIC",
    "found.topic.name": "TOPIC",
    "found.new.name": "TOPIC",
    "span.topic": "TOPIC",
    "span.partition": "PARTITION",
    "online_upgrade.spark:sink": "TOPIC",
    "online_upgrade.group_checks:old.name": "PIPELINE",
    "online_upgrade.group_checks:new.name": "NEW_PIPELINE",
    "pair.shadow": "SHADOW_TOPIC",
    "pair.output": "TOPIC",
    "name_list(pair.inputs)": "TOPICS",
    "'; '.join(wrong)": "CHANGES",
    "', '.join(sorted(found.topics))": "TOPICS",
    "name_list(growth.loose)": "TOPICS",
    "name_list(growth.raised)": "TOPICS",
    "name_list(left)": "TOPICS",
    "name_list(shapes)": "TOPICS",
    "_numbers(growth.own)": "TOPIC (N partitions)",
    "_numbers(odd)": "TOPIC (N partitions)",
    "name_list(other)": "TOPICS",
    "name_list(readers)": "CONSUMERS",
    "dead_letters.risks:name_list(others)": "GROUPS",
    "historical_range.table_target:name_list(table.cascades)": "OTHER_TABLES",
    "historical_range.table_target:title": "TABLE",
    "late_batch.target:title": "TABLE",
    "size(touch.touched_bytes)": "BYTES",
    "size(touch.bytes)": "BYTES",
    "shared.consumer_group_offsets:name_list(twice)": "TOPICS",
    "'topic' if len(twice) == 1 else 'topics'": "topics",
    "repair.consumer_group:name_list(astray.topics)": "TOPICS",
    "repair.consumer_group:_named(within)": "TOPIC[PARTITION]",
    "repair.consumer_group:verb": "were",
    "shared.group_inputs:name_list(found)": "TOPICS",
    "shared.group_inputs:_said_by(pipeline)": "`topics` in headgate.toml doesn't list",
    "shared.kafka_streams_reset_checks:_missing(seen)": "If an input is missing, add it to "
    "`topics` in headgate.toml",
    "shared.kafka_streams_reset_checks:_topology(seen)": "Add the topology of the application to "
    "`evidence` in headgate.toml",
    "shared.kafka_streams_reset_checks:OPEN_SECONDS": "45",
    "shared.kafka_streams_reset_checks:by": "",
    "shared.kafka_streams_reset_checks:_BACK_UP": "",
    "shared.kafka_streams_reset_checks:'pass its current topology with --topology' if is_reset "
    "else 'capture it again'": "capture it again",
    "shared.kafka_streams_reset_checks:', '.join(seen.wish.instances)": "INSTANCES",
    "name_list(locked)": "TOPICS",
    "name_list(inputs)": "TOPICS",
    "name_list(stores)": "TOPICS",
    "name_list(between)": "TOPICS",
    "name_list(unproven)": "TOPICS",
    "name_list(seen.deleted)": "TOPICS",
    "seen.internals[topic].why": "REASON",
    "shared.shared_commands:name": "PIPELINE",
    "shared.shared_commands:also": "OTHER_PIPELINES",
    "shared.shared_commands:again": " Spark reprocesses an interrupted batch of OTHER_PIPELINES.",
    "shared.shared_commands:'has' if len(others) == 1 else 'have'": "have",
    "shared.shared_commands:'is' if len(others) == 1 else 'are'": "are",
    "shared.database_table:name_list(others)": "COLUMNS",
    "shared.database_table:name_list(written)": "COLUMNS",
    "shared.database_table:name_list(table.triggers)": "TRIGGERS",
    "shared.database_table:table.schema": "SCHEMA",
    "shared.database_table:title": "TABLE",
    "historical_range.stream_range:needed": "TIME",
    "historical_range.stream_range:watermark": "WATERMARK",
    "historical_range.stream_range:what": "are missing (append mode) or not final",
    "processing_mode:self._emits()": "in update mode a key can have several rows",
    "processing_mode:self.why": "REASON",
    "processing_mode:each": "N records",
    "processing_mode:shown": "N s",
    "processing_mode:name_list(self.stream['keys'])": "KEY_COLUMNS",
    "name_list(others)": "CONSUMERS",
    "name_list(streams)": "APPLICATIONS",
    "name_list(groups)": "GROUPS",
    "decommission.spark:name_list(strange)": "GROUP",
    "name_list(strange)": "PIPELINES",
    "name_list(anywhere)": "PIPELINES",
    "name_list(new)": "TOPIC[PARTITION]",
    "name_list(missing)": "TOPIC[PARTITION]",
    "numbers_of(topics[name])": "partitions FIRST to LAST",
    "group.id": "GROUP",
    "pipeline.group": "GROUP",
    "from_point.scenario:group": "OTHER_GROUP",
    "seen.group.id": "GROUP",
    "request.pipeline.group": "GROUP",
    "own": "GROUP",
    "seen.group.type": "TYPE",
    "name_list(static)": "INSTANCES",
    "name_list(group.pending)": "TOPIC[PARTITION]",
    "STOP_SECONDS": "90",
    "PENDING_SECONDS": "75",
    "found.folder": "FOLDER",
    "folder": "FOLDER",
    "path": "FOLDER",
    "place": "NEW_LOCATION",
    "found.location": "OLD_LOCATION",
    "found.checkpoint.location": "LOCATION",
    "found.rewind.foreign_schema_files[0]": "OTHER_LOCATION",
    "request.pipeline.watch": "LOCATION",
    "from_scratch.spark:target": "OUTPUT",
    "decommission.spark:target": "OUTPUT",
    "_name(source)": "SOURCE",
    "name_list(unclear)": "PATTERNS",
    "location": "FOLDER",
    "version.sink.format": "foreachBatch or foreach",
    "of": "SOURCES",
    "lost_state:names": "OPERATORS",
    "repartition.spark:names": "OPERATORS",
    "position.batch": "N",
    "position.begun": "N",
    "found.batch.number": "N",
    "cut.begun": "N",
    "cut.part": "N",
    "(point.batch or 0) + 1": "N",
    "cut.span.begin": "OFFSET",
    "span.begin": "FIRST",
    "span.end - 1": "LAST",
    "spans": "TOPIC[PARTITION] offsets FIRST to LAST",
    "point.id": "ID",
    "point.query_id": "OLD_QUERY_ID",
    "checkpoint.query_id": "NEW_QUERY_ID",
    "pipeline.entry_point": "MODULE:FUNCTION",
    "member.pipeline.entry_point": "MODULE:FUNCTION",
    "after": "MODULE:FUNCTION",
    "name_list(version.user_functions)": "FUNCTIONS",
    "times": "a second time",
    "at": "TIME",
    "hours": "N",
    "duration(topic.retention_ms)": "TIME",
    "'is' if gone == 1 else 'are'": "are",
    "from_point.scenario:name": "PIPELINE",
    "from_point.scenario:query": "OTHER_PIPELINE",
    "'this partition' if len(parts) == 1 else 'these partitions'": "these partitions",
    "from_point.scenario:name_list(parts)": "TOPIC[PARTITION]",
    "historical_range.failing_records:_LARGEST": "max.message.bytes",
    "historical_range.failing_records:_BEFORE": "message.timestamp.before.max.ms",
    "age": "AGE",
    "duration(age)": "AGE",
    "duration(max(age, 1000))": "AGE",
    "duration(keep)": "TIME",
    "numbers.duration(keep)": "TIME",
    "processed_records:when": "After TIME",
    "as_records(total)": "up to N records",
    "processing_mode:about": " (about BYTES)",
    "processing_mode:pass_": "",
    "processing_mode:size(quota)": "BYTES",
    "processing_mode:least": "TIME",
    "request.options['lateness']": "DURATION",
    "request.inspector.spark_jobs.master()": "MASTER",
    "found.name": "ID",
    "error": "ERROR",
    "state.unknown": "REASON",
    "why": "REASON",
    "said": "CONDITION",
    "bounded.spark:count": "N records",
    "chain.downstream:instead": "--choose PIPELINE=CHOICE",
    "shared.common:now": " (now N)",
    "shared.common:more": "",
    "option": "",
    "more if again else ''": "",
    "_suspended(pipeline)": "",
}
# Other values are numbers.
_NUMBER = "N"
_SENTENCE = 20
"""Shorter texts of a function that names risks are pieces of a sentence, not one."""
_HEAD = """\
# Scenarios

A scenario is a kind of change to a pipeline. `headgate plan SCENARIO PIPELINE` shows its steps with
all values, its risks, and how many records are reprocessed. Making a plan changes nothing.
`headgate apply` runs the plan. `headgate request` requests approval from another person. You can
also do this on the Reprocess page. The [glossary](concepts/glossary.md) explains terms such as
journal or snapshot.

A run checks each step before the change, and verifies the step after the change. The journal of the
run records both. `headgate undo RUN` rolls the run back; the tables below show the undo of each
step. An undo restores offsets, checkpoints and state, but doesn't remove results from outputs.

Words in capitals stand for values, for example PIPELINE or TOPIC. OUTPUT is the location that the
pipeline writes to, and POINT is the time or offset at which the pipeline restarts.

This page is generated by `scripts/scenario_pages.py` (`make docs`).

The table shows for which engines each scenario is available. *Needs* means that the footnote names
conditions. *No* means that the footnote gives the reason.
"""


def page() -> str:
    """Return the whole page."""
    lines = [_HEAD, *_table()]
    for scenario in SCENARIOS.values():
        lines += ["", *_section(scenario)]
    lines += ["", *_losses()]
    return "\n".join(lines).rstrip() + "\n"


def _losses() -> Iterator[str]:
    yield "## State that a new checkpoint drops"
    yield ""
    yield "A new checkpoint has no state. The plan counts the lost rows with Spark's state reader,"
    yield "and shows their number (N) and their event times. POINT is the time or offset at which"
    yield "the input starts. Each sentence was tested on Spark 4.2: Spark processed the same"
    yield "records with the state and without the state."
    yield ""
    yield "| state | output mode | input continues at old offsets | input starts at POINT |"
    yield "|---|---|---|---|"
    for (holder, mode), loss in LOSSES.items():
        cells = (loss.continues, loss.begins)
        what = {"what": f"N {loss.many}", "unmatched": _NUMBER, "point": "POINT"}
        filled = (c.format(**what) for c in cells)
        yield f"| {holder} | {mode} | {' | '.join(filled)} |"


def _table() -> Iterator[str]:
    notes: dict[str, int] = {}
    yield f"| scenario | {' | '.join(ENGINES.values())} |"
    yield f"|---|{'---|' * len(ENGINES)}"
    for scenario in SCENARIOS.values():
        cells = " | ".join(_cell(scenario.support[engine], notes) for engine in ENGINES)
        yield f"| [{scenario.name}](#{scenario.name}) | {cells} |"
    yield ""
    yield from (f"[^{number}]: {text}" for text, number in notes.items())


def _cell(support: Support, notes: dict[str, int]) -> str:
    """Return a cell of the table; `notes` numbers the footnotes, and equal texts are one."""
    text = footnote(support)
    mark = f"[^{notes.setdefault(text, len(notes) + 1)}]" if text else ""
    return f"{WORDS[support.answer]}{mark}"


def footnote(support: Support) -> str:
    """Return what a cell needs, or why the scenario isn't available; empty if it is supported."""
    if support.answer is Answer.SUPPORTED:
        return ""
    why = " ".join(support.why.split()).removesuffix(".")
    return f"Needs {why}." if support.answer is Answer.NEEDS else f"{why[:1].upper()}{why[1:]}."


def _one_line(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _section(scenario: Scenario) -> Iterator[str]:
    yield f"## {scenario.name}"
    yield ""
    yield f"{scenario.title}: {scenario.what}"
    yield from _asks(scenario)
    yield from _steps(scenario)
    yield from _outputs(scenario)
    if found := list(risks(scenario)):
        yield from ("", "The plan can list these risks:")
        yield ""
        yield from (f"- {text}" for text in found)


def _asks(scenario: Scenario) -> Iterator[str]:
    if not scenario.options:
        yield from (
            "",
            f"    headgate plan {scenario.name} PIPELINE",
            "",
            "This scenario has no options.",
        )
        return
    yield from ("", f"    headgate plan {scenario.name} PIPELINE [OPTIONS]", "")
    yield from ("| option | meaning |", "|---|---|")
    for option in scenario.options:
        value = option.metavar or "|".join(option.choices)
        shown = f"`--{option.name}{f' {value}' if value else ''}`".replace("|", "\\|")
        yield f"| {shown} | {_one_line(option.help)}{_remark(scenario, option)} |"


def _remark(scenario: Scenario, option: Option) -> str:
    others = [o for o in scenario.options if o.one_of == option.one_of is not None]
    words = []
    if option.one_of:
        many = "exactly one" if option.required else "at most one"
        words.append(f"pass {many} of the {len(others)} options that set the {option.one_of}")
    elif option.required:
        words.append("required")
    if option.engines != frozenset(Engine):
        words.append("for " + ", ".join(t for e, t in ENGINES.items() if e in option.engines))
    return f" ({'; '.join(words)})" if words else ""


def _steps(scenario: Scenario) -> Iterator[str]:
    found = steps(scenario)
    if not found:
        return
    yield from (
        "",
        "The plan has some of these steps, depending on the engine and the pipeline:",
        "",
    )
    yield from ("| step | what it does | undo |", "|---|---|---|")
    for step in found:
        # A class has as a constant what its steps have as a property.
        undo = (
            _first(step.undo)
            if cast("bool", step.undoable)
            else "**none: the step can't be undone**"
        )
        yield f"| `{step.action}` | {_one_line(_first(step))} | {_one_line(undo)} |"


def _outputs(scenario: Scenario) -> Iterator[str]:
    """Yield what the scenario and its undo do to outputs, engine by engine."""
    told = {e: d for (name, e), d in STATEMENTS.items() if name == scenario.name}
    yield from ("", "What the run and its undo do to outputs:")
    for engine, declared in told.items():
        yield from ("", f"*{ENGINES[engine]}*", "", "| condition | run | undo |", "|---|---|---|")
        yield from map(_statement, declared.statements)


def _statement(said: Statement) -> str:
    only = " and ".join(fact.value for fact in Fact if fact in said.when)
    never = " or ".join(fact.value for fact in Fact if fact in said.unless)
    never = never.replace(" or records are ", " or ")
    when = (only or "always") + (f", unless {never}" if never else "")
    texts = (text.format(**_GAPS) for text in (said.run, said.undo))
    return f"| {' | '.join(map(_one_line, (when, *texts)))} |"


def _first(documented: object) -> str:
    return (inspect.getdoc(documented) or "").split("\n\n")[0]


def steps(scenario: Scenario) -> list[type[Step]]:
    """Return the kinds of steps that building the scenario's plan can make, as listed."""
    named = {name for node, module in reached(scenario) for name in _made(node, module)}
    return [kind for kind in all_steps() if kind.__name__ in named]


def _made(node: ast.AST, module: ModuleType) -> Iterator[str]:
    """Yield the steps that a definition makes, itself or by a function beside the steps."""
    for called in (n.func for n in ast.walk(node) if isinstance(n, ast.Call)):
        value = _value(called, module)
        if inspect.isclass(value) and value in all_steps():
            yield value.__name__
        elif inspect.isfunction(value) and value.__module__.startswith(_STEPS):
            yield from re.findall(r"\w+", str(inspect.signature(value).return_annotation))


def reached(scenario: Scenario) -> list[tuple[ast.AST, ModuleType]]:
    """Return the functions and classes of the scenarios' modules that its builder comes to."""
    return _reached(scenario.build)


@cache
def _reached(build: Callable[..., object]) -> list[tuple[ast.AST, ModuleType]]:
    first = inspect.getmodule(build)
    assert first is not None
    found: dict[tuple[str, str], tuple[ast.AST, ModuleType]] = {}
    waiting: list[tuple[ModuleType, str]] = [(first, build.__name__)]
    while waiting:
        module, name = waiting.pop(0)
        node = _defined(module).get(name)
        if node is None or (module.__name__, name) in found:
            continue
        found[module.__name__, name] = (node, module)
        leads = (_leads(used, module) for used in ast.walk(node))
        waiting += [lead for lead in leads if lead is not None]
    return list(found.values())


def _leads(node: ast.AST, module: ModuleType) -> tuple[ModuleType, str] | None:
    """Return where a name that is used is defined, if that is among the scenarios' modules."""
    value = _value(node, module)
    if not (inspect.isfunction(value) or inspect.isclass(value)):
        return None
    if not value.__module__.startswith(_REPROCESS):
        return None
    return sys.modules[value.__module__], value.__name__


def _value(node: ast.AST, module: ModuleType) -> object:
    """Return what `name` or `module.name` stands for in a module, None for another thing."""
    if isinstance(node, ast.Name):
        return _names(module).get(node.id)
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        owner = _names(module).get(node.value.id)
        return getattr(owner, node.attr, None) if inspect.ismodule(owner) else None
    return None


@cache
def _names(module: ModuleType) -> dict[str, object]:
    """Return what names stand for in a module, also those that its functions import."""
    imports = (n for n in ast.walk(_tree(module)) if isinstance(n, ast.ImportFrom))
    inner = {
        alias.asname or alias.name: _imported(str(node.module), alias.name)
        for node in imports
        if node.col_offset and str(node.module).startswith(_SCENARIOS)
        for alias in node.names
    }
    return {**inner, **vars(module)}


def _imported(module: str, name: str) -> object:
    found = import_module(module)
    return getattr(found, name) if hasattr(found, name) else import_module(f"{module}.{name}")


@cache
def _tree(module: ModuleType) -> ast.Module:
    return ast.parse(inspect.getsource(module))


@cache
def _defined(module: ModuleType) -> dict[str, ast.AST]:
    body = _tree(module).body
    return {n.name: n for n in body if isinstance(n, ast.FunctionDef | ast.ClassDef)}


def risks(scenario: Scenario) -> Iterable[str]:
    """Return the sentences that the functions with `risk` in their name can say."""
    said = [
        text
        for node, module in reached(scenario)
        for function in ast.walk(node)
        if isinstance(function, ast.FunctionDef) and "risk" in function.name
        for text in _texts(function, module.__name__)
    ]
    return [_one_line(t) for t in dict.fromkeys(said) if not t.startswith((". ", ", ", "; "))]


def _texts(function: ast.FunctionDef, module: str) -> Iterator[str]:
    documentation = function.body[0] if ast.get_docstring(function) else None
    for statement in function.body:
        if statement is not documentation:
            yield from _strings(statement, module)


def _strings(node: ast.AST, module: str) -> Iterator[str]:
    """Yield whole texts, with the names of their values in the gaps."""
    if isinstance(node, ast.JoinedStr | ast.Constant):
        parts = node.values if isinstance(node, ast.JoinedStr) else [node]
        own = [str(p.value) for p in parts if isinstance(p, ast.Constant)]
        if len("".join(own)) >= _SENTENCE and " " in "".join(own):
            yield "".join(_part(part, module) for part in parts)
        return
    for child in ast.iter_child_nodes(node):
        yield from _strings(child, module)


def _part(part: ast.expr, module: str) -> str:
    """Return a text's own words, or what its value is called."""
    if not isinstance(part, ast.FormattedValue):
        return str(cast("ast.Constant", part).value)
    value = ast.unparse(part.value)
    near = next((n for k, n in _VALUES.items() if _is_in(k, value, module)), None)
    if near is not None:
        return near
    if value.startswith("plural("):
        return f"{_NUMBER} " + value.split("'")[-2] + "s"
    if value.startswith("offset_range("):
        return "offsets FIRST to LAST"
    if value.startswith("as_records("):
        return f"up to {_NUMBER} records"
    return _VALUES.get(value, _NUMBER)


def _is_in(key: str, value: str, module: str) -> bool:
    place, colon, expression = key.partition(":")
    return bool(colon) and module.endswith(place) and expression == value


def main(arguments: list[str]) -> int:
    """Write the page, or say that it is not current."""
    current = page()
    is_stale = not FILE.exists() or FILE.read_text(encoding="utf-8") != current
    if arguments == ["--check"]:
        return 1 if is_stale else 0
    if is_stale:
        FILE.write_text(current, encoding="utf-8")
    print(f"{len(SCENARIOS)} scenarios, {'written' if is_stale else 'nothing changed'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
