"""Write the examples of the rules' pages: `PYTHONPATH=lib:tests python -m rules.examples`.

Prints which rules have none. Reads and judges all recorded restarts, which takes 30 seconds; run
`scripts/rule_pages.py` then.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping
from pathlib import Path

from headgate.rules.catalogue import all_rules, rules_by_kind

from .calls import call_examples
from .recorded import cases, choose, recorded_side, worst_of
from .surgery import surgery_examples
from .tables import WHY, Example, table_examples

FOLDER = Path(__file__).parents[3] / "scripts" / "rule_examples"


def recorded_examples() -> dict[str, Example]:
    """Return an example of every rule that a recorded restart has."""
    known = list(cases())
    found: dict[str, Example] = {}
    for rule in all_rules():
        if chosen := choose(rule.code, known):
            shown, passes, words = chosen
            why = worst_of(shown, rule.code).why
            said = why.removesuffix(WHY[rule.code]).strip()
            found[rule.code] = {
                "reported": recorded_side(shown, words, said),
                "passes": recorded_side(passes, words),
            }
    return found


def unit_examples(codes: Container[str]) -> dict[str, Example]:
    """Return the examples that the unit tests of these rules give, the measured ones first."""
    found = call_examples(codes) | table_examples() | surgery_examples()
    return {code: example for code, example in found.items() if code in codes}


def path_of(kind: str) -> Path:
    """Return the file with the examples of one kind of rules."""
    return FOLDER / f"{kind.lower().replace(' ', '_')}.json"


def write(found: Mapping[str, Example]) -> None:
    """Write a file for each kind of rules."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for kind, rules in rules_by_kind().items():
        mine = {
            r.code: found[r.code] for r in sorted(rules, key=lambda r: r.code) if r.code in found
        }
        if not mine:
            continue
        text = json.dumps(mine, indent=1, ensure_ascii=False)
        path_of(kind).write_text(f"{text}\n", encoding="utf-8")


def main() -> None:
    """Write all examples, and say which rules have none."""
    found = recorded_examples()
    found |= unit_examples({rule.code for rule in all_rules()} - found.keys())
    write(found)
    missing = sorted(r.code for r in all_rules() if r.code not in found)
    print(f"{len(found)} examples; no recorded case yet: {len(missing)} {' '.join(missing)}")


if __name__ == "__main__":
    main()
