"""Create the files of a typical change, with a test that fails: `new.py KIND NAME ...`.

docs/contributing/changing.md says what to fill in. Nothing is written unless all of it can be:
a name that is taken, or that isn't a name, is one sentence and exit code 2.
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

from scaffold import (
    PKG,
    ROOT,
    Change,
    UsageError,
    camel,
    checked,
    dashed,
    next_code,
    one_of,
    template,
)

_FUTURE = "from __future__ import annotations"
# Their cases are lists of versions beside a cluster; those of other files are pairs.
_CASES_OF_MORE = ("checkpoint_cases", "spark_cases", "world_cases")
ENGINES = {"spark": "SPARK", "kafka-streams": "KAFKA_STREAMS", "consumer-group": "CONSUMER_GROUP"}
_SHORT = {"spark": "_SPARK", "kafka-streams": "_STREAMS", "consumer-group": "_GROUP"}
_TYPES = {"text": ("Text", "str"), "integer": ("Integer", "int"), "boolean": ("Boolean", "bool")}
_RUN = '    run = store.runs.enqueue(new_run(), by="ann", action="apply")\n    '
# A table's row in `rows.py`, the module that writes it, and how a test makes and reads one.
_TABLES = {
    "runs": ("RunFacts", "queueing", "store, new_run", f"{_RUN}row = store.runs.get(run)"),
    "audit": ("AuditRow", "audit", "store, new_run", f"{_RUN}(row,) = store.audit.list(run)"),
    "requests": ("RequestRow", "requests", "store", (
        '    new = NewRequest(scenario="s", pipeline="p", reason="r", plan_hash="h", plan="")\n'
        '    row = store.requests.get(store.requests.ask(new, by="ann"))'
    )),
}  # fmt: skip


def add_rule(change: Change, given: argparse.Namespace) -> str:
    """Add a rule to its aspect's module, to `codes.py` and to the cases."""
    readiness = given.kind == "readiness-rule"
    families = ["spark", "kafka-streams"]
    engine = one_of(given.engine, families, "an engine with rules")
    kind = "readiness" if readiness else engine.replace("-", "_")
    aspect, name = checked(given.aspect), checked(given.name)
    if aspect in ("codes", "check"):
        raise UsageError(f"{aspect}.py has no rules: choose another aspect")
    module, codes = f"{PKG}/rules/{kind}/{aspect}.py", f"{PKG}/rules/{kind}/codes.py"
    prefix = "RDY" if readiness else "KST" if kind == "kafka_streams" else given.prefix
    is_new = not (ROOT / module).exists()
    if is_new and not re.fullmatch("[A-Z]{3}", prefix or ""):
        raise UsageError(f"{module} is new: give its codes a --prefix of three capital letters")
    if given.prefix and not is_new:
        raise UsageError(f"{module} has codes already: leave out --prefix")
    code = next_code(module, prefix)
    fields = {"code": code, "name": name, "engine": ENGINES[engine]}
    imports, rule = template(f"{kind}_rule", **fields).split("---\n")
    if is_new:
        doc = f'"""Write here what the rules of {aspect} are about."""'
        change.create(module, f"{doc}\n\n{_FUTURE}\n\n{imports}\n{rule}")
        change.insert(codes, f"from headgate.rules.{kind} import {aspect}", after=_FUTURE)
    elif re.search(rf"(?m)^(def )?{name}\b", change.text(module)):
        raise UsageError(f"{module} has {name} already: choose another name")
    else:
        change.texts[module] = f"{change.text(module)}\n\n{rule}"
        change.insert(module, imports, after=_FUTURE)
    entries = re.findall(rf"(?m)^    {aspect}\.\w+,$", change.text(codes))
    if entries:
        change.insert(codes, f"    {aspect}.{name},", after=entries[-1])
    else:
        change.insert(codes, f"    {aspect}.{name},", after="RULES: tuple[", before="\n)\n")
    return _add_cases(change, kind, code, engine, module)


def _add_cases(change: Change, kind: str, code: str, engine: str, module: str) -> str:
    """Add a case that fires and one that stays silent; return what pytest is to run."""
    if kind == "kafka_streams":
        test = f"tests/rules/kafka_streams/test_{code.lower()}.py"
        change.create(test, template("kafka_streams_rule_test", code=code, module=module))
        return test
    if kind == "readiness":
        test, version = f"tests/rules/{kind}/test_readiness_rules.py", engine.split("-")[-1]
        rows = [f'    ("{code}", {version}(), {{}}, {fires}),' for fires in (True, False)]
        change.insert(test, "\n".join(rows), after="\nCASES = [", before="\n]")
        return f"{test} -k {code}"
    files = sorted((ROOT / "tests/rules").glob("*_cases.py"))
    own = [f.stem for f in files if f'"{code[:3]}' in f.read_text(encoding="utf-8")]
    cases = own[0] if own else "setting_cases"
    row = "(version(), version(), Outcome.UNKNOWN, version())"
    if cases in _CASES_OF_MORE:
        row = "[(version(), version(), None, Outcome.UNKNOWN), (version(), version(), None, None)]"
    change.insert(
        f"tests/rules/{cases}.py", f'    "{code}": {row},', after="\nCASES = {", before="\n}"
    )
    test = "compare/test_world" if cases in _CASES_OF_MORE else "spark/test_rules"
    test = "spark/test_variables" if cases == "variable_cases" else test
    return f"tests/rules/{test}.py -k {code}"


def add_step(change: Change, given: argparse.Namespace) -> str:
    """Add a step's module, its line in the table of steps, and its action in a scenario."""
    steps = f"{PKG}/reprocess/steps"
    folders = sorted(p.parent.name for p in (ROOT / steps).glob("*/__init__.py"))
    family = one_of(given.family, [f for f in folders if f != "base"], "a family of steps")
    name, table = checked(given.name), f"{steps}/__init__.py"
    if f'"{name}":' in change.text(table):
        raise UsageError(f"{table} has the step {name} already: choose another name")
    module, test = f"{steps}/{family}/{name}.py", f"tests/reprocess/steps/{family}/test_{name}.py"
    fields = {"name": name, "class_name": camel(name), "family": family, "module": module}
    change.create(module, template("step", **fields, words=name.replace("_", " ")))
    change.create(test, template("step_test", **fields))
    row = f'    "{name}": "{family}.{name}:{camel(name)}",'
    change.insert(table, row, after="\n_STEP_CLASSES = {", before="\n}\n")
    if given.scenario is not None:
        module = f"{PKG}/reprocess/scenarios/{given.scenario.replace('-', '_')}/scenario.py"
        change.insert(module, f'        "{name}",', after="\n    steps=(", before="")
    return test


def add_scenario(change: Change, given: argparse.Namespace) -> str:
    """Add a scenario's folder, its name in `build.py` and its statements about outputs."""
    name = dashed(given.name)
    folder = name.replace("-", "_")
    engines = [one_of(e, ENGINES, "an engine") for e in given.engines.split(",")]
    base = f"{PKG}/reprocess/scenarios"
    module = f"{base}/{folder}/scenario.py"
    test = f"tests/reprocess/scenarios/{folder}/test_{folder}.py"
    if (ROOT / base / folder).exists():
        raise UsageError(f"{base}/{folder} exists: choose another name")
    cells = {e: "SUPPORTED" if e in engines else 'refused("write here why not")' for e in ENGINES}
    answers = sorted({cell.partition("(")[0] for cell in cells.values()})
    fields = {"name": name, "folder": folder, "module": module}
    fields["title"] = name.replace("-", " ").capitalize()
    support = "\n".join(f"        Engine.{ENGINES[e]}: {cell}," for e, cell in cells.items())
    scenario = template("scenario", **fields, answers=", ".join(answers), support=support)
    change.create(f"{base}/{folder}/__init__.py", f'"""The scenario {name}."""\n')
    change.create(module, scenario)
    change.create(test, template("scenario_test", **fields))
    build = f"{base}/build.py"
    change.insert(build, f'    "{name}",', after="\nSCENARIOS = _Scenarios(", before="\n)\n")
    rows = [f'    ("{name}", {_SHORT[e]}): Declared(statements=()),' for e in engines]
    change.insert(
        f"{base}/shared/output_statements.py",
        "\n".join(rows),
        after="\nSTATEMENTS: Mapping[tuple[str, Engine], Declared] = {",
        before="\n}\n",
    )
    pause = "+ reprocess/scenarios/pause reprocess/scenarios/application_reset"
    change.insert("tests/house/test_layering.py", f"+ reprocess/scenarios/{folder}", after=pause)
    return test


def add_sink(change: Change, given: argparse.Namespace) -> str:
    """Add a format's row, and the test of what Spark prints of it."""
    table, test = f"{PKG}/model/sinks.py", "tests/parse/spark/test_sinks.py"
    names = [given.name, *given.classes]
    for name in names:
        if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{2,39}", name):
            raise UsageError(f"{name!r} isn't a format or a class: use 3 to 40 letters and digits")
        if f'"{name.lower()}"' in change.text(table).lower():
            raise UsageError(f"{table} has {name} already: choose another name")
    classes = "".join(f'"{name}", ' for name in given.classes)
    said = f"names=({classes}), " if classes else ""
    title = f'title="{given.name} sink", '
    row = f'    SinkFormat(format="{given.name}", batch_ids=BatchIds.UNKNOWN, {said}{title}),'
    change.insert(table, row, after="\nSINK_FORMATS = (", before="\n)\n")
    recorded = f'    ("sinks/{given.name}", "{given.name}", None),'
    change.insert(test, recorded, after="\nRECORDED = [", before="\n]\n")
    return f"{test} -k {given.name}"


def add_evidence(change: Change, given: argparse.Namespace) -> str:
    """Add a kind's row, its parser, how it is recognised, and its golden folder's tests."""
    kind, engine = dashed(given.name), one_of(given.engine, [*ENGINES][:2], "an engine to read")
    name, is_spark = kind.replace("-", "_"), engine == "spark"
    path = f"spark/{name}/read" if is_spark else f"kafka_streams/{name}"
    module = f"{PKG}/parse/{path}.py"
    test = f"tests/parse/{path.rpartition('/')[0]}/test_{name}.py"
    table = f"{PKG}/model/evidence_kinds.py"
    if f'"{kind}"' in change.text(table):
        raise UsageError(f"{table} has {kind} already: choose another name")
    fields = {"name": name, "kind": kind, "class_name": camel(name), "module": module}
    given_text = "text without leading blanks" if is_spark else "whole text, as the file has it,"
    source = "evidence_json" if given.json else "evidence"
    change.create(module, template(source, **fields, given_text=given_text))
    fields |= {"up": "3", "part": ""} if is_spark else {"up": "2", "part": f".{name}"}
    change.create(test, template("evidence_test", **fields, upper=name.upper()))
    # Two lines: words that say more than the kind's name would make one line too long.
    words = f'*("{kind}", {_SHORT[engine]}, "{kind.replace("-", " ")}")'
    row = f'    {name.upper()} = (\n        {words},\n        "in_content",\n    )'
    change.insert(table, row, after='\n    CLUSTER = "cluster"')
    seeds = f'    "{kind}": ("golden/{name}/*",),'
    change.insert("tests/support/fuzzing.py", seeds, after='\n    "capture": (')
    imported = f"from headgate.parse.{path.replace('/', '.')} import {{}}is_{name}, read_{name}"
    if is_spark:
        change.create(
            f"{PKG}/parse/spark/{name}/__init__.py", f'"""Evidence of the kind `{kind}`."""\n'
        )
        ranks = "tests/house/test_layering.py"
        first = "\n+ parse/python parse/kafka landscape"
        change.insert(ranks, f"+ parse/spark/{name}", after=first)
        door, piece = f"{PKG}/parse/evidence/recognise.py", f"EvidenceKind.{name.upper()}, path"
        if given.json:
            change.insert(
                door,
                f"    if is_{name}(found):\n"
                f"        value = read_{name}(mask_json(found))\n"
                f"        return Piece({piece}, value, warnings)",
                after="\n        return Piece(EvidenceKind.VERSION, path, version, warnings)",
            )
        else:
            change.insert(
                door,
                f"    if is_{name}(stripped):\n"
                f"        return Piece({piece}, read_{name}(mask_text(text)))",
                after="\n    stripped = text.lstrip(",
            )
        change.insert(door, imported.format(""), after=_FUTURE)
        return test
    text = "value" if given.json else "text"
    read = "\n    (value,) = values" if given.json else "\n    config, release = read_logged(text)"
    door, found = f"{PKG}/parse/kafka_streams/recognise.py", f"{name}=read_{name}({text})"
    change.insert(
        door,
        f"    if is_{name}({text}):\n        return Found(EvidenceKind.{name.upper()}, {found})",
        after=read,
    )
    field = f"    {name}: {camel(name)} | None = None"
    change.insert(door, field, after="\n    release: str | None = None")
    change.insert(door, imported.format(f"{camel(name)}, "), after=_FUTURE)
    return test


def add_column(change: Change, given: argparse.Namespace) -> str:
    """Add a column, its migration and its field; with a heading, a column of the Runs page."""
    store, name = f"{PKG}/store", checked(given.name)
    table = one_of(given.table, _TABLES, "a table that new.py knows")
    kind, python = _TYPES[one_of(given.type, _TYPES, "a type of column")]
    row, writer, fixtures, body = _TABLES[table]
    tables, rows, migrate = (f"{store}/{n}.py" for n in ("tables", "rows", "migrate"))
    text = change.text(tables).partition(f"\n{table.upper()} = ")[2].partition("\n)\n")[0]
    if f'"{name}"' in text:
        way = "choose another name"
        if given.heading:
            way = f"add a line to {PKG}/views/words/run_columns.py, or {way}"
        raise UsageError(f"{tables} has the column {table}.{name} already: {way}")
    if given.heading and table != "runs":
        raise UsageError("a --heading needs the table runs: the Runs page shows no other")
    if given.heading and not re.fullmatch(r"[\w ()]{1,30}", given.heading):
        raise UsageError(f"{given.heading!r} isn't a heading: use up to 30 letters, digits and ()")
    down = max(p.name[1:5] for p in (ROOT / store / "migrations/versions").glob("v[0-9]*.py"))
    revision = f"{int(down) + 1:04}"
    fields = {"name": name, "table": table, "type": kind}
    change.create(
        f"{store}/migrations/versions/v{revision}_{table}_{name}.py",
        template("migration", **fields, revision=revision, down=down),
    )
    change.insert(
        tables, f'    sa.Column("{name}", sa.{kind}),',
        after=f"\n{table.upper()} = sa.Table(", before="\n)\n",
    )  # fmt: skip
    head = f'FIRST, HEAD = "0007", "{down}"'
    if head not in change.text(migrate):
        raise UsageError(f"{migrate} doesn't have {head}: set HEAD to the newest migration")
    change.texts[migrate] = change.text(migrate).replace(
        head, head.replace(f', "{down}', f', "{revision}')
    )
    last = re.findall(r"(?m)^    \w+: .*= .*$", _class_of(change.text(rows), row))[-1]
    whole = _class_of(change.text(rows), row)
    field = f"{last}\n    {name}: {python} | None = None"
    change.texts[rows] = change.text(rows).replace(whole, whole.replace(last, field))
    test = f"tests/store/test_{table}_{name}.py"
    imports = "\nfrom headgate.store.rows import NewRequest\n" if table == "requests" else ""
    writer = f"{store}/{writer}.py"
    fields |= {"imports": imports, "fixtures": fixtures, "body": body, "writer": writer}
    change.create(test, template("column_test", **fields))
    if given.heading:
        shown = {
            "str": f'run.{name} or ""',
            "bool": f'"yes" if run.{name} else ""',
            "int": f'"" if run.{name} is None else str(run.{name})',
        }
        line = f'    RunColumn("{given.heading}", lambda run: {shown[python]}),'
        change.insert(
            f"{PKG}/views/words/run_columns.py",
            line,
            after="\nRUN_COLUMNS = (",
            before='\n    RunColumn("Run",',
        )
    return test


def _class_of(text: str, name: str) -> str:
    """Return the source of a class, without the code after it."""
    return f"class {name}" + text.partition(f"\nclass {name}")[2].partition("\n\n\n")[0]


class _Parser(argparse.ArgumentParser):
    def error(self, message: str) -> NoReturn:
        """Raise what `main` prints in one sentence."""
        raise UsageError(f"{message}; `{self.prog} --help` shows what it takes")


def parser() -> argparse.ArgumentParser:
    """Return the command line."""
    top = _Parser(prog="scripts/new.py", description=__doc__)
    kinds = top.add_subparsers(dest="kind", required=True, metavar="KIND")
    rule = kinds.add_parser("rule", help="a rule that compares two versions")
    rule.add_argument("engine", help="spark or kafka-streams")
    ready = kinds.add_parser("readiness-rule", help="a rule that checks one version")
    ready.add_argument("--engine", default="spark", help="spark or kafka-streams (default spark)")
    for one in (rule, ready):
        one.add_argument("aspect", help="module of the rule, new or not, such as sink")
        one.add_argument("name", help="function of the rule, such as sink_table_renamed")
        one.set_defaults(add=add_rule, prefix=None)
    rule.add_argument("--prefix", help="three letters of the codes of a new module for Spark")
    step = kinds.add_parser("step", help="a step of a plan")
    step.add_argument("family", help="folder of the step, such as topics")
    step.add_argument("name", help="action of the step, such as add_partitions")
    step.add_argument("--scenario", help="scenario that declares the step, such as from-scratch")
    step.set_defaults(add=add_step)
    scenario = kinds.add_parser("scenario", help="a scenario")
    scenario.add_argument("name", help="such as late-batch")
    every = ",".join(ENGINES)
    scenario.add_argument("--engines", default=every, help=f"with commas (default {every})")
    scenario.set_defaults(add=add_scenario)
    sink = kinds.add_parser("sink", help="a sink format")
    sink.add_argument("name", help="what a writer's format takes, such as delta")
    sink.add_argument("classes", nargs="*", help="its classes in plans and progress")
    sink.set_defaults(add=add_sink)
    evidence = kinds.add_parser("evidence", help="a kind of evidence")
    evidence.add_argument("engine", help="spark or kafka-streams")
    evidence.add_argument("name", help="such as thread-dump")
    evidence.add_argument("--json", action="store_true", help="files are one JSON object each")
    evidence.set_defaults(add=add_evidence)
    column = kinds.add_parser("column", help="a column in the store")
    column.add_argument("table", help=", ".join(_TABLES))
    column.add_argument("name", help="such as ticket")
    column.add_argument("--type", default="text", help=f"{', '.join(_TYPES)} (default text)")
    column.add_argument("--heading", help="show it on the Runs page under this heading")
    column.set_defaults(add=add_column)
    return top


def main(arguments: list[str] | None = None) -> int:
    """Make the change; 2 if it can't be made, which then changed nothing."""
    change = Change()
    try:
        given = parser().parse_args(arguments)
        test = given.add(change, given)
        change.write()
    except UsageError as error:
        print(f"new.py: {error}", file=sys.stderr)
        return 2
    print(f"Next, see it fail: PYTHONPATH=lib .venv/bin/python -m pytest -q {test}")
    print("docs/contributing/changing.md says what to fill in.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
