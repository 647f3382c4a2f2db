"""From two states and two outputs to a verdict: each sign of a wrong result, and its neighbours."""

import json
from dataclasses import replace

import pytest

from headgate.model.twin import Equivalence, SameOperator
from headgate.twin.experiment import Experiment, Ran, Store
from headgate.twin.judge import judge

SAVE = (0, "stateStoreSave", "default")
ROWS = tuple(json.dumps({"k": f"K.{n}", "s": n}) for n in range(30))
KEYS = [(f"K.{n}",) for n in range(40)]
DONE = Ran(rows=ROWS, progress=({"stateOperators": [{"numRowsUpdated": 40}]},))
ERROR = {"class": "STATE_X", "condition": "STATE_X.Y", "message": "no", "is_around": False}


def store(value, keys=KEYS, names=("a", "b")):
    return Store(keys=("k",), values=names, rows={k: value(n) for n, k in enumerate(keys)})


def plain(n):
    return (n, 1000 - n)


def run(after=plain, before=plain, keys=KEYS, **fields):
    made = {
        "modes": ("Update", "Update"),
        "before_a": DONE,
        "after_a": DONE,
        "resumed": DONE,
        "own": DONE,
        "state_before": {SAVE: store(before)},
        "state_after": {SAVE: store(after, keys)},
        "words": {},
    }
    return Experiment(**(made | fields))


OTHER_OUT = replace(DONE, rows=ROWS[:-1])


def test_an_only_value_that_is_always_the_same_shows_nothing():
    """max(x < 500) and min(x < 500) are both true where each x is."""
    alike = {SAVE: store(lambda n: (True,), names=("flag",))}
    found = judge(run(state_before=alike, state_after=alike))
    assert (found.outcome, found.is_thin) == ("unknown", True)
    assert "value column 1 of store default" in found.why
    # A deduplication stores nothing, or when a key expires.
    kept = {(0, "dedupe", "default"): store(lambda n: (None,), names=("__dummy__",))}
    assert judge(run(state_before=kept, state_after=kept)).outcome == "resumes"


def test_equal_states_and_outputs_resume():
    found = judge(run())
    assert (found.outcome, found.why) == (
        "resumes",
        "both versions produce the same state (40 keys) and the same output (30 rows)",
    )  # fmt: skip
    assert [(o.rows_before, o.rows_after) for o in found.operators] == [(40, 40)]


def test_a_failed_restart_refuses_with_sparks_condition():
    found = judge(run(resumed=Ran(error=ERROR | {"stage": "batch"})))
    assert (found.outcome, found.refusal.condition) == ("refuses", "STATE_X.Y")


@pytest.mark.parametrize(
    ("fields", "question"),
    [
        ({"before_a": Ran(error=ERROR)}, "--sample"),
        ({"after_a": Ran(error=ERROR | {"stage": "batch"})}, "--sample"),
        ({"resumed": Ran(error=ERROR | {"is_around": True})}, "network"),
        ({"resumed": Ran(late="waits")}, "--timeout"),
        ({"inside": "rand()"}, "in the same way"),
        ({"own": Ran(late="waits")}, "--timeout"),
        ({"own": OTHER_OUT, "again": Ran(late="waits")}, "--timeout"),
        ({"own": Ran(error=ERROR)}, "--sample"),
    ],
)
def test_what_decides_nothing_asks(fields, question):
    found = judge(run(**fields))
    assert found.outcome == "unknown" and question in found.question


def test_an_error_of_the_rows_is_not_a_refusal():
    error = ERROR | {"class": "ValueError", "stage": "batch"}
    found = judge(run(resumed=Ran(error=error), after_a=Ran(error=error)))
    assert found.outcome == "unknown"


def test_values_that_changed_places_are_wrong_with_a_counterexample():
    found = judge(run(after=lambda n: (1000 - n, n), own=OTHER_OUT))
    assert found.outcome == "silently_wrong"
    example = found.counterexample
    assert (example.match.before_column, example.match.after_column) == (0, 1)
    assert (example.match.keys, example.match.of) == (40, 40)
    assert (example.key, example.before, example.after) == ({"k": "K.0"}, 0, 1000)


def test_keys_that_changed_places_are_wrong():
    keys = [(f"K.{n}", f"L.{n}") for n in range(40)]
    turned = [(b, a) for a, b in keys]
    found = judge(
        run(state_before={SAVE: store(plain, keys)}, state_after={SAVE: store(plain, turned)})
    )
    assert found.outcome == "silently_wrong" and "key columns" in found.why


def test_other_keys_are_orphans():
    found = judge(run(keys=[(f"M.{n}",) for n in range(40)], own=OTHER_OUT))
    assert found.outcome == "silently_wrong" and "40 of 40 keys" in found.why


def test_a_few_other_keys_are_rows_that_a_filter_selects():
    found = judge(run(keys=[*KEYS[:36], *((f"M.{n}",) for n in range(2))], own=OTHER_OUT))
    assert (found.outcome, found.mixed) == ("resumes", True)


def test_a_key_that_got_another_name_is_an_orphan():
    found = judge(run(keys=[*KEYS[:39], ("guest",)], own=OTHER_OUT))
    assert found.outcome == "silently_wrong" and "1 key" in found.why
    assert found.counterexample.key == {"k": "K.39"}
    # Of one small number, as of a flag, that would be chance.
    small = {SAVE: store(lambda n: 1, [*KEYS[:39], ("guest",)])}
    assert judge(run(state_before={SAVE: store(lambda n: 1)}, state_after=small)).mixed


def test_wrong_results_of_generated_texts_that_versions_take_apart_otherwise_are_a_question():
    found = judge(run(keys=[(f"M.{n}",) for n in range(40)], own=OTHER_OUT, takes_otherwise=True))
    assert found.outcome == "unknown" and "--sample" in found.question


def test_evicted_keys_that_begin_again_are_wrong():
    gone = ("G.1",)
    found = judge(
        run(
            keys=[*KEYS, gone],
            own=OTHER_OUT,
            history={SAVE: frozenset({gone})},
            state_resumed={SAVE: store(lambda n: (n, 0), [*KEYS, gone])},
            state_own={SAVE: store(plain, [*KEYS, gone])},
        )
    )
    assert found.outcome == "silently_wrong"
    assert "the new version restarts 1 key of stateStoreSave" in found.why
    assert found.why.endswith("from zero: the old version had already evicted this key")


def test_keys_that_the_old_version_has_evicted_are_no_orphans():
    others = [(f"M.{n}",) for n in range(40)]
    evicted = {SAVE: frozenset(others)}
    found = judge(run(keys=others, own=OTHER_OUT, history=evicted))
    assert "different meaning" not in found.why
    found = judge(run(keys=others, own=OTHER_OUT, history={SAVE: frozenset(others[:20])}))
    assert "different meaning" in found.why


def test_a_store_that_is_empty_in_one_version_decides_nothing():
    found = judge(run(state_after={SAVE: store(plain, [])}, own=OTHER_OUT))
    assert (found.outcome, found.is_thin) == ("unknown", True) and "is empty" in found.why


SINGLE = {k[0].lower(): 1 for k in KEYS}


def test_another_meaning_shows_in_keys_of_one_row():
    found = judge(run(after=lambda n: (2 * n + 1, 1000 - n), words=SINGLE, own=OTHER_OUT))
    assert found.outcome == "silently_wrong" and "keys with only one row" in found.why
    assert found.is_scaled


def test_another_function_shows_only_in_keys_of_several_rows():
    few = {k[0].lower(): 1 for k in KEYS[:12]}
    found = judge(run(after=lambda n: (n + (n >= 12) * 7, 1000 - n), words=few, own=OTHER_OUT))
    assert found.outcome == "silently_wrong" and "different function" in found.why


def test_another_form_whose_output_is_equal_resumes():
    touched = {SAVE: store(lambda n: (n, n))}
    found = judge(run(after=lambda n: (n + 1, n + 1), state_resumed=touched))
    assert found.outcome == "resumes" and "different form" in found.why


def test_an_error_that_rows_alone_cause_is_no_refusal():
    zero = ERROR | {"class": "DIVIDE_BY_ZERO", "condition": "DIVIDE_BY_ZERO", "stage": "batch"}
    alone = judge(run(resumed=Ran(error=zero), own=Ran(error=zero)))
    assert (alone.outcome, "on generated rows, with and" in alone.why) == ("unknown", True)
    # Values of the old state, taken for others, may divide by zero, too.
    assert judge(run(resumed=Ran(error=zero))).outcome == "refuses"


def test_append_that_becomes_update_is_wrong():
    assert judge(run(modes=("Append", "Update"))).outcome == "silently_wrong"
    assert judge(run(modes=("Append", "Append"))).outcome == "resumes"


def test_append_that_becomes_update_holds_no_row_of_a_deduplication_back():
    states = {s: {(0, "dedupe", "default"): store(plain)} for s in ("state_before", "state_after")}
    assert judge(run(modes=("Append", "Update"), **states)).outcome == "resumes"


def test_equal_states_with_other_output_are_wrong_unless_it_differs_each_time():
    found = judge(run(own=OTHER_OUT, again=OTHER_OUT))
    assert found.outcome == "silently_wrong"
    assert found.counterexample.before == {"k": "K.29", "s": 29}
    assert judge(run(own=OTHER_OUT, again=DONE)).outcome == "unknown"


def test_rows_of_a_new_source_come_after_the_restart():
    more = {"resumed": DONE, "own": OTHER_OUT, "again": OTHER_OUT}
    assert judge(run(**more, added_sources=1)).outcome == "resumes"
    less = {"resumed": OTHER_OUT, "own": DONE, "again": DONE}
    assert judge(run(**less, added_sources=1, modes=("Append", "Append"))).outcome == (
        "silently_wrong"
    )
    for added, removed, mode in ((1, 0, "Update"), (0, 1, "Update"), (1, 1, "Append")):
        others = {"added_sources": added, "removed_sources": removed}
        found = judge(run(**less, **others, modes=(mode, mode)))
        assert (found.outcome, found.is_thin) == ("unknown", True), (added, removed, mode)


def test_columns_of_time_are_not_compared():
    rows = tuple(json.dumps({"k": "x", "now": n}) for n in range(30))
    other = tuple(json.dumps({"k": "x", "now": n + 9}) for n in range(30))
    differing = {"resumed": replace(DONE, rows=rows), "own": replace(DONE, rows=other)}
    assert judge(run(**differing)).outcome == "silently_wrong"
    found = judge(run(**differing, left_out=frozenset({"now"})))
    assert (found.outcome, found.left_out) == ("resumes", ("now",))


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"resumed": Ran(rows=ROWS[:3]), "own": Ran(rows=ROWS[:3])}, "only 3 output rows"),
        ({"state_before": {SAVE: store(plain, KEYS[:1])},
          "state_after": {SAVE: store(plain, KEYS[:1])}}, "has only 1 key"),
        ({"before": lambda n: (n, 7), "after": lambda n: (n, 7)}, "value column 2"),
        ({"state_before": {SAVE: Store(error="broken")},
          "state_after": {SAVE: Store(error="broken")},
          "resumed": Ran(rows=ROWS[:12]), "own": Ran(rows=ROWS[:12])}, "stateStoreSave: broken"),
    ],
)  # fmt: skip
def test_what_no_row_reached_never_resumes(fields, said):
    found = judge(run(**fields))
    assert found.outcome == "unknown" and said in found.why


def test_a_store_that_is_gone_beside_a_new_one_is_wrong():
    moved = (0, "stateStoreSave", "other")
    found = judge(run(state_after={moved: store(plain)}, own=OTHER_OUT))
    assert found.outcome == "silently_wrong" and "starts empty" in found.why
    added = judge(run(state_after={SAVE: store(plain), moved: store(plain)}))
    assert (added.outcome, added.mixed) == ("resumes", True)


def times(start, seconds=10):
    return tuple(
        f"2024-03-05T06:{(start + s) // 60:02}:{(start + s) % 60:02}" for s in (0, seconds)
    )


def test_windows_that_begin_elsewhere_are_wrong():
    sliding = [(times(5 * n),) for n in range(40)]
    found = judge(
        run(
            state_before={SAVE: store(plain, sliding)},
            state_after={SAVE: store(plain, sliding[::2])},
            own=OTHER_OUT,
        )
    )
    assert (
        found.outcome == "silently_wrong"
        and "have other start times or another length" in found.why
    )
    same = judge(
        run(
            state_before={SAVE: store(plain, sliding)},
            state_after={SAVE: store(plain, sliding[:20])},
            own=OTHER_OUT,
        )
    )
    assert (same.outcome, same.mixed) == ("resumes", True)


def test_values_in_another_unit_mix_in_history():
    found = judge(run(after=lambda n: (100 * n, 1000 - n), words=SINGLE, own=OTHER_OUT))
    assert (found.outcome, found.mixed) == ("resumes", True)
    assert "100 times as large" in found.why


def test_a_placeholder_holds_nothing_that_could_mean_something_else():
    old, new = (lambda n: (n, "?"), lambda n: (n, f"name {n}"))
    found = judge(run(before=old, after=new, words=SINGLE, own=OTHER_OUT))
    assert (found.outcome, found.mixed) == ("resumes", True)
    counted = judge(run(before=lambda n: (n, 1), after=plain, words=SINGLE, own=OTHER_OUT))
    assert counted.outcome == "silently_wrong"


JOIN = (0, "symmetricHashJoin", "left")


def test_columns_of_a_joins_side_that_changed_places_are_wrong():
    def rows(turned):
        def value(n):
            made = [(f"a{n}.{i}", f"b{n}.{i}") for i in range(1 + n % 3)]
            made = [row[::-1] if turned else row for row in made]
            return made[0] if len(made) == 1 else ("several", *sorted(made))

        return {JOIN: store(value)}

    found = judge(run(state_before=rows(False), state_after=rows(True), own=OTHER_OUT))
    assert found.outcome == "silently_wrong" and "changed positions" in found.why


def test_a_refusal_counts_although_the_new_version_never_ends_by_itself():
    found = judge(run(after_a=Ran(late="waits"), resumed=Ran(error=ERROR)))
    assert found.outcome == "refuses"


def counts(passed, operator_rows=40):
    condition = {"filter": "(k = a)", "operator_id": None, "is_after_state": False}
    operator = {"filter": None, "operator_id": 0, "is_after_state": False}
    return (
        condition | {"rows_in": 60, "rows": passed},
        operator | {"rows_in": operator_rows, "rows": operator_rows},
    )


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (counts(0), "no row passed the filter (k = a) in the new version"),
        (counts(40, 0), "no row reached operator 0 in the new version"),
    ],
)
def test_a_filter_or_an_operator_that_no_row_reached_is_unknown(made, said):
    found = judge(
        run(before_a=replace(DONE, counts=counts(30)), after_a=replace(DONE, counts=made))
    )
    assert (found.outcome, found.why) == ("unknown", said)


def test_no_row_has_to_pass_a_filter_that_none_can_pass():
    never = tuple(c | {"filter": "false"} if c["filter"] else c for c in counts(0))
    ran = replace(DONE, counts=never)
    assert judge(run(before_a=ran, after_a=ran)).outcome == judge(run()).outcome


def test_coverage_has_the_filters_of_both_versions():
    first = replace(DONE, counts=counts(30))
    found = judge(run(before_a=first, after_a=DONE))
    (kept,) = found.filters
    assert (kept.condition, kept.before, kept.after) == ("(k = a)", (60, 30), None)
    assert (found.operators[0].reached_before, found.operators[0].reached_after) == (40, None)


def test_few_keys_are_enough_only_if_catalyst_says_that_keys_are_the_same():
    few = {SAVE: store(plain, KEYS[:3])}
    found = judge(run(state_before=few, state_after=few))
    assert found.outcome == "unknown" and "has only 3 keys" in found.why
    operator = SameOperator(operator_id=0, operator="", inputs=True, keys=True, values=False)
    same = Equivalence(plan=False, operators=(operator,))
    assert judge(run(state_before=few, state_after=few, equivalence=same)).outcome == "resumes"


def test_the_same_rows_under_other_keys_are_wrong_although_both_have_these_keys():
    def with_others(n):
        return (n + (n % 10 == 0), 1000 - n)

    counted = {"own": OTHER_OUT, "after": with_others}
    assert judge(run(**counted)).outcome == "resumes"
    operator = SameOperator(operator_id=0, operator="", inputs=True, keys=False, values=True)
    found = judge(run(**counted, equivalence=Equivalence(plan=False, operators=(operator,))))
    assert found.outcome == "silently_wrong" and "rows of 4 keys" in found.why
    also_values = replace(operator, values=False)
    same = Equivalence(plan=False, operators=(also_values,))
    assert judge(run(**counted, equivalence=same)).outcome == "resumes"


def test_parts_of_a_buffer_that_few_rows_fill_are_not_one_value_of_all_keys():
    def seen(names, value):
        made = {SAVE: store(value, names=names)}
        return judge(run(state_before=made, state_after=made))

    found = seen(("a", "b"), lambda n: (n, 0))
    assert found.outcome == "unknown" and "value column 2" in found.why
    assert seen(("sum", "isEmpty"), lambda n: (n, False)).outcome == "resumes"
    words = ("n", "MS[0]", "MS[1]")
    assert seen(words, lambda n: (n, n % 3, 0)).outcome == "resumes"
    assert seen(words, lambda n: (n, 0, 0)).outcome == "unknown"
