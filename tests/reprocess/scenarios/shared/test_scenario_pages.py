"""docs/scenarios.md says what the declarations say, and a refused cell is what a plan answers."""

import importlib.util
import inspect
import pkgutil
import re
from pathlib import Path
from types import CodeType

import pytest

import headgate.reprocess
from headgate.model.registered_pipelines import Pipeline, Registry
from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Answer
from headgate.reprocess.scenarios.build import RISKS, SCENARIOS, build_plan
from headgate.reprocess.steps import all_steps
from headgate.text.risk import Risk
from support.flat_ports import FlatPorts

ROOT = Path(__file__).parents[4]
CELLS = [(name, engine) for name in SCENARIOS for engine in Engine]
ACTIONS = [step.action for step in all_steps()]
REFUSED = [(n, e) for n, e in CELLS if SCENARIOS[n].support[e].answer is Answer.REFUSED]


def load_script():
    file = ROOT / "scripts/scenario_pages.py"
    spec = importlib.util.spec_from_file_location("scenario_pages", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SCRIPT = load_script()


@pytest.fixture(scope="module")
def page():
    """The page: it takes seconds, which whoever only collects these tests need not wait for."""
    return SCRIPT.page()


@pytest.mark.slow
def test_the_page_is_current(page):
    assert SCRIPT.FILE.read_text() == page, "run `make docs`"


def test_every_scenario_answers_for_every_engine():
    for scenario in SCENARIOS.values():
        assert set(scenario.support) == set(Engine), scenario.name


@pytest.fixture(scope="module")
def footnotes(page):
    """The footnotes of the page by number."""
    found = re.findall(r"^\[\^(\d+)\]: (.+)$", page, re.MULTILINE)
    assert [int(number) for number, _ in found] == list(range(1, len(found) + 1))
    assert len({text for _, text in found}) == len(found), "equal texts are one footnote"
    return dict(found)


@pytest.mark.parametrize(("name", "engine"), CELLS, ids=lambda v: str(v))
def test_a_cell_is_one_word_and_its_footnote_is_the_declaration(name, engine, page, footnotes):
    support = SCENARIOS[name].support[engine]
    (row,) = [line for line in page.splitlines() if line.startswith(f"| [{name}]")]
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    shown = re.fullmatch(
        r"(yes|no|needs)(?:\[\^(\d+)\])?", cells[1 + list(SCRIPT.ENGINES).index(engine)]
    )
    assert shown is not None
    word, number = shown.groups()
    assert word == {"supported": "yes", "needs": "needs", "refused": "no"}[support.answer]
    assert bool(support.why) is (number is not None) is (word != "yes")
    said = footnotes[number] if number else ""
    assert said == SCRIPT.footnote(support)
    assert support.why[1:].removesuffix(".") in said


class OneInspector(FlatPorts):
    """Knows one registered pipeline; a refused cell asks for nothing more."""

    def __init__(self, pipeline: Pipeline) -> None:
        self.registered = Registry(pipelines=(pipeline,)).pipeline


@pytest.mark.parametrize(("name", "engine"), REFUSED, ids=lambda v: str(v))
def test_a_refused_cell_is_what_its_plan_answers(name, engine):
    inspector = OneInspector(Pipeline(name="p", engine=engine, group="p", checkpoint="/ck"))
    plan = build_plan(name, "p", inspector)
    assert plan == Plan(
        scenario=name,
        pipeline="p",
        blockers=(SCENARIOS[name].support[engine].why,),
        options=plan.options,
    )
    assert not plan.can_apply


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_section_names_its_questions_steps_and_risks(name, page):
    scenario = SCENARIOS[name]
    section = page.split(f"\n## {name}\n")[1].split("\n## ")[0]
    assert scenario.what in section
    assert all(f"`--{option.name}" in section for option in scenario.options)
    kinds = SCRIPT.steps(scenario)
    assert [kind.action for kind in kinds] == [a for a in ACTIONS if a in scenario.steps]
    assert len(kinds) == len(scenario.steps) > 0
    for kind in kinds:
        assert f"| `{kind.action}` |" in section
    assert "the step can't be undone" in section or all(kind.undoable for kind in kinds)
    for risk in scenario.risks():
        assert f"- {SCRIPT._one_line(risk.shown)}\n" in section


def test_a_step_says_what_it_does_and_what_its_undo_does():
    for kind in all_steps():
        assert SCRIPT._first(kind).endswith("."), kind
        assert SCRIPT._first(kind.undo), kind


def names_in(code: CodeType) -> set[str]:
    """Return what a function names, itself or in a function within it."""
    inner = (names_in(part) for part in code.co_consts if isinstance(part, CodeType))
    return {*code.co_names}.union(*inner)


@pytest.mark.slow
def test_each_risk_is_declared_by_a_scenario_and_listed_by_a_function():
    declared = {risk for scenario in SCENARIOS.values() for risk in scenario.risks()} | {*RISKS}
    listing = {scenario.risks for scenario in SCENARIOS.values()}
    known: dict[Risk, str] = {}
    used: set[Risk] = set()
    names: set[str] = set()
    for found in pkgutil.walk_packages(headgate.reprocess.__path__, "headgate.reprocess."):
        module = vars(importlib.import_module(found.name))
        known |= {risk: name for name, risk in module.items() if isinstance(risk, Risk)}
        classes = [c for c in module.values() if inspect.isclass(c)]
        members = [*module.values(), *(m for c in classes for m in vars(c).values())]
        for function in filter(inspect.isfunction, members):
            if function.__module__ == found.name and function not in listing:
                said = names_in(function.__code__)
                used |= {module[n] for n in said if isinstance(module.get(n), Risk)}
                names |= said - module.keys()
    assert {name for risk, name in known.items() if risk not in declared} == set()
    assert {name for risk, name in known.items() if risk not in used} <= names
