"""The wizard: every scenario with what it is for, questions one after the other, the whole plan."""

from __future__ import annotations

import re
from html import escape

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from headgate.model.version import Engine
from headgate.reprocess.plan import Plan
from headgate.reprocess.scenario import Answer, Kind, Option, Scenario
from headgate.reprocess.scenarios.build import SCENARIOS
from headgate.reprocess.steps.offsets.reset_offsets import ResetOffsets
from headgate.reprocess.steps.offsets.target import Target, TargetKind
from headgate.reprocess.steps.topics.delete_records import DeleteRecords
from headgate.ui.reprocess import offsets_table, scenario_form
from headgate.ui.reprocess.option_words import on_card
from headgate.ui.reprocess.scenario_form import choice_key
from headgate.ui.shared.keys import ReprocessKey
from headgate.usecases.context import open_context
from headgate.usecases.restore_points.make_point import make_point
from headgate.views.words.impact import no_undo_words
from support.console_seed import add_stopped_pipeline
from support.waiting import PATIENCE

pytestmark = pytest.mark.slow

REFUSED = [
    (name, engine, scenario.support[engine].why)
    for name, scenario in SCENARIOS.items()
    for engine in (Engine.SPARK, Engine.CONSUMER_GROUP)
    if scenario.support[engine].answer is Answer.REFUSED
]
PIPELINE = {Engine.SPARK: "orders-by-city", Engine.CONSUMER_GROUP: "billing"}


def text(at):
    return " ".join(element.proto.body for element in at.get("html"))


def keys(at):
    return {widget.key for kind in ("text_input", "selectbox") for widget in at.get(kind)}


def test_every_scenario_is_shown_with_its_sentence_and_a_refused_one_with_its_reason(
    open_page, seeded
):
    at = open_page("reprocess", pipeline="billing")
    shown = text(at)
    for name, scenario in SCENARIOS.items():
        support = scenario.support[Engine.CONSUMER_GROUP]
        assert escape(scenario.what) in shown, name
        assert at.button(key=f"{ReprocessKey.CHOOSE}_{name}").disabled is (
            support.answer is Answer.REFUSED
        ), name
        if support.answer is Answer.REFUSED:
            # What stands in backticks is shown as code.
            assert all(escape(part) in shown for part in on_card(support.why, name).split("`")), (
                name
            )
    assert not at.exception
    assert not [b for b in at.button if b.key == ReprocessKey.GO]


def test_an_unknown_pipeline_is_not_another_one(open_page, seeded):
    at = open_page("reprocess", pipeline="zz", scenario="from-scratch")
    shown = " ".join((text(at), *(e.value for e in (*at.error, *at.warning))))
    assert "pipeline zz isn" in shown.lower()
    assert not at.exception and not [b for b in at.button if b.key == ReprocessKey.GO]
    at.selectbox(key=ReprocessKey.PIPELINE).select("billing").run()
    assert not at.exception and "pipeline zz isn" not in text(at).lower()
    assert "billing" in at.query_params["pipeline"]


def test_each_card_shows_the_state_of_its_conditions_for_this_pipeline(open_page, seeded):
    """A local checkpoint that can run lacks nothing, and no card speaks of a remote one."""
    add_stopped_pipeline(seeded)
    shown = text(open_page("reprocess", pipeline="returns"))
    shown = re.sub("<style>.*?</style>", "", shown, flags=re.DOTALL)
    assert "needs something" not in shown and "remote" not in shown
    assert "The checkpoint exists." in shown
    assert "</span> under [pipeline.commands] of this pipeline. With" in shown
    assert "2 conditions missing" not in shown


def test_choosing_a_scenario_puts_it_into_the_address_and_back(open_page, seeded):
    at = open_page("reprocess", pipeline="billing")
    at.button(key=f"{ReprocessKey.CHOOSE}_from-point").click().run()
    assert at.query_params["scenario"] in ("from-point", ["from-point"])
    assert "Required for the plan: Point" in text(at)
    at.button(key=ReprocessKey.OTHER).click().run()
    assert "scenario" not in at.query_params
    assert at.button(key=f"{ReprocessKey.CHOOSE}_from-scratch")


def test_a_link_to_a_scenario_that_is_not_built_leads_to_the_choice(open_page, seeded):
    at = open_page("reprocess", pipeline="billing", scenario="from-the-moon")
    assert "a scenario. Choose a scenario" in text(at)
    assert at.button(key=f"{ReprocessKey.CHOOSE}_from-scratch")


@pytest.mark.parametrize(("name", "engine", "why"), REFUSED[:3], ids=lambda v: str(v)[:30])
def test_a_link_to_a_refused_scenario_says_why_and_asks_nothing(
    open_page, seeded, name, engine, why
):
    at = open_page("reprocess", pipeline=PIPELINE[engine], scenario=name)
    # A sentence begins with a capital.
    assert all(escape(part) in text(at) for part in why[1:].split("`"))
    assert at.button(key=ReprocessKey.GO).disabled
    assert not [key for key in keys(at) if key and key.startswith("option_")]


def test_a_question_that_depends_on_another_comes_after_it(open_page, seeded):
    later = "option_from-point_no-record"
    at = open_page("reprocess", pipeline="billing", scenario="from-point")
    assert later not in keys(at)
    at.selectbox(key="choice_from-point_point").set_value("to-datetime").run()
    assert later not in keys(at)
    at.text_input(key="option_from-point_to-datetime").set_value("2026-11-21T10:00:00Z").run()
    assert later in keys(at)
    at.selectbox(key="choice_from-point_point").set_value("to-earliest").run()
    assert later not in keys(at)


CHOICES = sorted(
    {
        (name, option.one_of)
        for name, scenario in SCENARIOS.items()
        for option in scenario.asks(Engine.SPARK)
        if option.one_of
        and scenario.support[Engine.SPARK].answer is not Answer.REFUSED
        # With one answer nothing is chosen.
        and sum(o.one_of == option.one_of for o in scenario.asks(Engine.SPARK)) > 1
    }
)


@pytest.mark.parametrize(("name", "word"), CHOICES)
def test_each_question_of_a_choice_is_asked_where_it_is_chosen(open_page, seeded, name, word):
    at = open_page("reprocess", pipeline="orders-by-city", scenario=name)
    asked = [o for o in SCENARIOS[name].asks(Engine.SPARK) if o.one_of == word]
    for option in asked:
        at.selectbox(key=choice_key(name, word)).set_value(option.name).run()
        assert not at.exception, option.name
        drawn = {w.label for kind in ("text_input", "number_input") for w in at.get(kind)}
        if option.kind in (Kind.TEXT, Kind.NUMBER, Kind.MANY):
            assert option.ask in drawn


def test_a_plan_shows_what_it_costs_and_offers_to_run_it_or_to_ask(open_page, seeded):
    add_stopped_pipeline(seeded)
    at = open_page("reprocess", pipeline="returns", scenario="from-scratch")
    shown = text(at)
    assert "Records reprocessed" in shown
    assert re.search(r"Can&#x27;t be undone.{0,80}results", shown, re.DOTALL)
    assert "Outputs after an undo" in shown and "correct what was written" in shown
    assert "remove written results." in shown
    assert not at.button(key=ReprocessKey.GO).disabled
    assert not at.button(key=ReprocessKey.ASK).disabled
    assert not at.exception


def test_what_was_in_the_batches_is_shown_where_one_is_asked_for(open_page, seeded):
    add_stopped_pipeline(seeded)
    at = open_page("reprocess", pipeline="returns", scenario="rewind")
    (batches,) = (e for e in at.expander if "Contents of batches" in e.label)
    assert "batches 0 to 2" in batches.label
    assert list(batches.dataframe[0].value["Batch"]) == [2, 1, 0]
    at = open_page("reprocess", pipeline="returns", scenario="from-scratch")
    assert not [e for e in at.expander if "Contents of batches" in e.label]


def plan_of(count: int) -> Plan:
    rows = [
        {"topic": f"orders-{n % 2}", "partition": n, "from": None if n == 3 else 10 * n, "to": n}
        for n in range(count)
    ]
    step = ResetOffsets(
        group="g",
        group_type="classic",
        target=Target(place=TargetKind.BEGINNING),
        topics={"orders-0": {"id": "a", "partitions": count}},
        offsets=tuple(rows),
    )
    return Plan(scenario="from-point", pipeline="p", steps=(step,))


def test_thousands_of_partitions_are_one_table_that_is_searched():
    moves = plan_of(5_000).moves()
    assert len(moves) == 5_000
    assert [m["partition"] for m in offsets_table.found(moves, "orders-1[4321]")] == [4321]
    assert len(offsets_table.found(moves, "ORDERS-0")) == 2_500
    assert offsets_table.found(moves, "payments") == []
    frame = offsets_table.frame(moves)
    assert list(frame.iloc[3]) == ["orders-1", 3, "none", "3", ""]
    assert list(frame.iloc[0]) == ["orders-0", 0, "0", "0", "none"]
    assert frame.iloc[1_000]["Change"] == "−9\u202f000"


def test_an_option_needs_nothing_that_the_scenario_does_not_ask():
    def check(scenario: Scenario, option: Option) -> bool:
        return all(scenario.option(name) for name in option.after) and not (
            option.required and option.after
        )

    assert all(check(s, o) for s in SCENARIOS.values() for o in s.options)
    assert Kind.CHOICE in {o.kind for o in SCENARIOS["from-point"].options if o.after}


def test_restore_points_are_listed_where_one_can_be_chosen(open_page, seeded):
    add_stopped_pipeline(seeded)
    point = make_point(open_context(str(seeded)), "returns")
    at = open_page("reprocess", pipeline="returns", scenario="rewind")
    (points,) = (e for e in at.expander if "restore point" in e.label)
    assert points.label.startswith("1 restore point, ")
    shown = points.dataframe[0].value
    assert list(shown["Restore point"]) == [point.id]
    assert list(shown["Batch"]) == [str(point.batch)]
    at = open_page("reprocess", pipeline="returns", scenario="from-scratch")
    assert not [e for e in at.expander if "restore point" in e.label]


def agreeing():
    from test_reprocess_page import plan_to_empty

    from headgate.ui.reprocess.plan_view import plan_agreement

    plan_agreement(plan_to_empty(backed_up=False))


def plan_to_empty(*, backed_up: bool) -> Plan:
    topics = {"bills": {"id": "a", "partitions": 1}}
    return Plan(
        scenario="from-scratch",
        pipeline="billing",
        steps=(DeleteRecords(topics=topics, backed_up=backed_up),),
    )


def test_steps_without_an_undo_are_named_before_the_run_is_confirmed():
    at = AppTest.from_function(agreeing, default_timeout=PATIENCE).run()
    said = "No undo is possible for 1 step: delete all records of bills."
    assert said in text(at)
    assert at.checkbox(key=ReprocessKey.CONFIRM).label == "I have read the plan"
    assert no_undo_words(plan_to_empty(backed_up=True)) is None


OFFER = "downstream pipelines get duplicates: b. To rewind these pipelines, too, run "


def opened():
    from headgate.reprocess.output_effects import OutputEffects
    from headgate.reprocess.plan import Plan
    from headgate.reprocess.scenarios.dead_letters.risks import OUT_OF_ORDER, REPLACES_NEWER
    from headgate.ui.reprocess.plan_view import plan_consequences

    statements = OutputEffects(run=("They are redriven again only with --again",))
    plan_consequences(
        Plan(scenario="dead-letters", pipeline="q", outputs=statements,
             risks=(OUT_OF_ORDER(), REPLACES_NEWER(topic="redriven")))
    )  # fmt: skip


def test_a_sentence_opens_with_a_capital_unless_it_opens_with_a_name():
    shown = text(AppTest.from_function(opened, default_timeout=PATIENCE).run())
    assert "Redriven records come after newer records" in shown
    assert "redriven is compacted" in shown
    assert "only with “Also redrive" in shown and "--again" not in shown


def offering():
    from test_reprocess_page import OFFER

    from headgate.reprocess.plan import Plan
    from headgate.ui.reprocess.plan_view import plan_consequences

    plan_consequences(
        Plan(scenario="rewind", pipeline="q",
             risks=(f"{OFFER}`headgate plan chain q --at=2026-04-02T12:00:00.000Z`",))
    )  # fmt: skip


def test_the_offer_of_a_chain_leads_to_its_filled_form(open_page, seeded, monkeypatch):
    """The link's own query parameters open the form; nothing of them stays in the address."""
    links = []
    monkeypatch.setattr(st, "page_link", lambda page, **more: links.append((page, more)))
    shown = text(AppTest.from_function(offering, default_timeout=PATIENCE).run())
    label = "“Record timestamp in the first pipeline&#x27;s input”"
    assert f"plan “Chain” with {label} 2026-04-02T12:00" in shown
    ((page, link),) = links
    assert page == "pages/reprocess.py"
    given = link["query_params"] | {"pipeline": "orders-by-city"}
    monkeypatch.undo()
    monkeypatch.setenv("HEADGATE_CONFIG", str(seeded))
    at = open_page("reprocess", **given)
    assert at.selectbox(key="choice_chain_target time").value == "at"
    assert at.text_input(key="option_chain_at").value == "2026-04-02T12:00:00.000Z"
    assert set(at.query_params) == {"pipeline", "scenario"}
    at.selectbox(key="choice_chain_target time").set_value("to-earliest").run()
    assert at.selectbox(key="choice_chain_target time").value == "to-earliest"
    assert not at.exception


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("orders  clicks:0,2 ", ["orders", "clicks:0,2"]),
        ('"order id" city', ["order id", "city"]),
        ('city "order  id"', ["city", "order  id"]),
        ('"', []),
    ],
)
def test_a_value_with_a_space_is_quoted(text, values):
    assert scenario_form._values(text) == values
