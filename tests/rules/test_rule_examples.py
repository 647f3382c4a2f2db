"""The example on a rule's page holds: the rule reports the one change, and not the other."""

import json

import pytest

from headgate.rules.catalogue import all_rules

from .examples import __main__ as program
from .examples.__main__ import FOLDER, unit_examples
from .examples.excerpt import MOST, clean
from .examples.recorded import HARMLESS, load, recorded_side, words_of, worst_of

pytestmark = pytest.mark.slow

EXAMPLES = {
    code: example
    for path in sorted(FOLDER.glob("*.json"))
    for code, example in json.loads(path.read_text(encoding="utf-8")).items()
}
RECORDED = sorted(c for c, e in EXAMPLES.items() if e["reported"]["case"].startswith("tests/cases"))


@pytest.mark.parametrize("code", RECORDED)
def test_a_recorded_example_is_reported_and_its_counterpart_passes(code):
    reported, passes = (load(EXAMPLES[code][half]["case"]) for half in ("reported", "passes"))
    assert code in reported.codes()
    assert code not in passes.codes()
    assert passes.outcome in HARMLESS and passes.truth["outcome"] in HARMLESS
    reasons = [clean(found.why) for found in reported.findings if found.rule == code]
    said = EXAMPLES[code]["reported"]["said"]
    assert any(said in reason for reason in reasons), "run `python -m rules.examples`"
    words = words_of(worst_of(reported, code))
    for half, case in (("reported", reported), ("passes", passes)):
        shown = recorded_side(case, words) | {"said": EXAMPLES[code][half]["said"]}
        assert EXAMPLES[code][half] == shown, "run `python -m rules.examples`"


@pytest.mark.long
def test_an_example_of_a_unit_test_is_what_the_test_holds():
    """`unit_examples` takes pairs of which the unit tests hold that one fires and one doesn't."""
    ours = {code: example for code, example in EXAMPLES.items() if code not in RECORDED}
    others = {rule.code for rule in all_rules()} - set(RECORDED)
    assert unit_examples(others) == ours, "run `python -m rules.examples`"


def test_examples_of_some_rules_leave_those_of_others(tmp_path, monkeypatch):
    before = json.loads((FOLDER / "readiness.json").read_text("utf-8"))
    others = {code: {"reported": "kept"} for code in before if code != "RDY050"}
    (tmp_path / "readiness.json").write_text(json.dumps(others), "utf-8")
    monkeypatch.setattr(program, "FOLDER", tmp_path)
    program.main(["RDY050"])
    assert [p.name for p in tmp_path.iterdir()] == ["readiness.json"]
    now = json.loads((tmp_path / "readiness.json").read_text("utf-8"))
    assert now == others | {"RDY050": before["RDY050"]}
    assert list(now) == sorted(now)
    with pytest.raises(SystemExit, match="no rule has the code RDY999: see"):
        program.main(["RDY999"])


def test_an_example_is_short_and_of_a_rule():
    assert EXAMPLES.keys() <= {rule.code for rule in all_rules()}
    for example in EXAMPLES.values():
        for half in ("reported", "passes"):
            assert len(example[half]["lines"]) <= MOST
            assert example[half]["case"]
