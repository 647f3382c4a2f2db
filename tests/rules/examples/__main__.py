"""Write the examples of rule pages: `PYTHONPATH=lib:tests python -m rules.examples [CODE...]`.

With codes, writes only the examples of these rules. Prints which rules have none. For rules that
compare two versions, it reads and judges all recorded restarts: two minutes of processor time. Run
`scripts/rule_pages.py` then.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Container, Mapping
from pathlib import Path

from headgate.rules.catalogue import all_rules, rules_by_kind

from .calls import call_examples
from .recorded import cases, choose, recorded_side, worst_of
from .seen import seen_examples
from .surgery import surgery_examples
from .tables import WHY, Example, table_examples

FOLDER = Path(__file__).parents[3] / "scripts" / "rule_examples"
# Rules that compare no two versions of a pipeline: no recorded restart is an example of them.
_NOT_RECORDED = ("Readiness", "Schemas")


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
    found = call_examples(codes) | table_examples() | surgery_examples() | seen_examples()
    return {code: example for code, example in found.items() if code in codes}


def path_of(kind: str) -> Path:
    """Return the file with the examples of one kind of rules."""
    return FOLDER / f"{kind.lower().replace(' ', '_')}.json"


def write(found: Mapping[str, Example], codes: Collection[str]) -> None:
    """Write the examples of these rules into the file of each kind; others stay as they are."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for kind, rules in rules_by_kind().items():
        wanted = {r.code for r in rules} & set(codes)
        if not wanted:
            continue
        kept = {k: v for k, v in _written(kind).items() if k not in wanted}
        mine = kept | {k: v for k, v in found.items() if k in wanted}
        known = {
            r.code: mine[r.code] for r in sorted(rules, key=lambda r: r.code) if r.code in mine
        }
        if known:
            text = json.dumps(known, indent=1, ensure_ascii=False)
            path_of(kind).write_text(f"{text}\n", encoding="utf-8")


def _written(kind: str) -> dict[str, Example]:
    file = path_of(kind)
    found: dict[str, Example] = (
        json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}
    )
    return found


def main(codes: Collection[str]) -> None:
    """Write the examples of these rules, of all without codes, and say which rules have none."""
    known = {rule.code for rule in all_rules()}
    if unknown := sorted(set(codes) - known):
        raise SystemExit(f"no rule has the code {', '.join(unknown)}: see docs/rules/README.md")
    wanted = set(codes) or known
    alone = {r.code for kind in _NOT_RECORDED for r in rules_by_kind()[kind]}
    found = recorded_examples() if wanted - alone else {}
    found |= unit_examples(wanted - found.keys())
    found = {code: example for code, example in found.items() if code in wanted}
    write(found, wanted)
    missing = sorted(wanted - found.keys())
    print(f"{len(found)} examples; no example yet: {len(missing)} {' '.join(missing)}".rstrip())


if __name__ == "__main__":
    main(sys.argv[1:])
