"""A twin run's lines and the file for a bug report."""

import json
from dataclasses import replace

import pytest

from headgate.model.twin import (
    Counterexample,
    Equivalence,
    FilterRows,
    OperatorRows,
    SameOperator,
    TwinVerdict,
)
from headgate.model.version import Engine, Version
from headgate.rules.compare.twin_findings import Disagreement, with_twin
from headgate.rules.compare.twin_lowers import Lowered
from headgate.rules.core.report import Outcome, Report
from headgate.views.reports.comparison import comparison_document
from headgate.views.reports.disagreements import disagreement_file
from headgate.views.reports.document_junit import junit_text
from headgate.views.reports.document_markdown import markdown_text
from headgate.views.reports.document_sarif import sarif_data
from headgate.views.reports.twin import (
    equivalence_words,
    twin_json,
    twin_lines,
    with_twin_section,
)

NONE = Version(engine=Engine.SPARK)
EXAMPLE = Counterexample(kind="state", operator_id=0, key={"k": "Ada"}, before="Ada", after="Bob")
VERDICT = TwinVerdict(
    outcome="silently_wrong",
    why="no",
    counterexample=EXAMPLE,
    rows=674,
    seed=7,
    operators=(OperatorRows(operator_id=0, operator="save", rows_before=5, reached_before=9),),
    filters=(
        FilterRows(condition="isnotnull(k)", before=(9, 9), after=(9, 9)),
        FilterRows(condition="(isnotnull(k) AND (k = x))", before=(9, 4)),
    ),
)


def test_filters_and_operators_stand_in_lines_without_what_spark_adds():
    lines = list(
        twin_lines(VERDICT, [Disagreement("KAF001", Outcome.REFUSES, Outcome.RESUMES, True)])
    )
    assert (
        "Operator 0 (save): 9 input rows and 5 changed state rows in the old version, "
        "no state in the new version." in lines
    )
    assert [line for line in lines if line.startswith("Filter")] == [
        "Filter (isnotnull(k) AND (k = x)): 4 of 9 rows passed in the old version, no such filter "
        "in the new version."
    ]
    assert lines[-1].endswith("so the engine's outcome doesn't refute the rule.")


def test_catalyst_is_one_line():
    assert equivalence_words(Equivalence(plan=True)).endswith("didn't run the versions.")
    assert equivalence_words(Equivalence(plan=True, differs=("settings",))).endswith(
        "are the same. Other differences: settings."
    )
    operator = SameOperator(operator_id=0, operator="Join", inputs=True, keys=True, values=False)
    assert "Operator 0 (Join): same input, same keys, different values." in equivalence_words(
        Equivalence(plan=False, operators=(operator,))
    )
    assert "because user functions differ" in equivalence_words(
        Equivalence(plan=None, differs=("user functions",))
    )


def test_a_file_for_a_bug_report_has_plans_and_no_values():
    found = with_twin(Report(), VERDICT, NONE, NONE)
    lowered = (Lowered("AGG001", Outcome.UNKNOWN, (7, 8)),)
    plain = twin_json(found.report, VERDICT, found.disagreements, (NONE, NONE), lowered)
    assert plain["lowered"] == [{"rule": "AGG001", "rules": "unknown", "seeds": [7, 8]}]
    assert plain["coverage"]["filters"][1]["before"] == {"rows_in": 9, "rows_out": 4}
    file = disagreement_file(plain, ("plan one", "plan two"), {"words": ["x"]})
    assert file["plans"] == {"before": "plan one", "after": "plan two"}
    assert file["hints"] == {"words": ["x"]} and file["coverage"]["seed"] == 7
    assert file["findings"][0]["rule"] == "TWN002"
    assert "Ada" not in repr(file) and "Bob" not in repr(file)


WRITERS = {
    "markdown": markdown_text,
    "sarif": lambda document: json.dumps(sarif_data(document), ensure_ascii=False),
    "junit": junit_text,
}
OF_STREAMS = replace(
    VERDICT,
    streams_version="4.3.1",
    counterexample=Counterexample(
        kind="output", key={"topic": "totals", "key": "Ada"}, before="17", after="18"
    ),
)


@pytest.mark.parametrize("form", WRITERS)
@pytest.mark.parametrize(
    ("verdict", "values"), [(VERDICT, ("Ada", "Bob")), (OF_STREAMS, ("Ada", "17", "18", "totals"))]
)
def test_every_report_has_the_counterexample(form, verdict, values):
    found = with_twin(Report(), verdict, NONE, NONE)
    document = with_twin_section(comparison_document(found.report), verdict, found.disagreements)
    text = WRITERS[form](document)
    assert all(value in text for value in values), text
