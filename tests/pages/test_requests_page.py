"""The Requests page: who asked, who decides, and that a name is needed for it."""

from __future__ import annotations

from contextlib import closing

import pytest

from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.store import open_store
from headgate.store.rows import NewRequest, RequestState
from headgate.ui.shared.keys import RequestsKey
from headgate.usecases.context import open_context

pytestmark = pytest.mark.slow


@pytest.fixture
def store(seeded):
    with closing(open_store(open_context(str(seeded)).store_url)) as opened:
        yield opened


@pytest.fixture
def request_id(store):
    plan = Plan(scenario="from-point", pipeline="billing", steps=(RecordOffsets(group="billing"),))
    new = NewRequest(
        scenario=plan.scenario,
        pipeline="billing",
        reason="orders of noon were lost",
        plan_hash=plan.hash,
        plan=dump_plan(plan),
    )
    return store.requests.ask(new, by="ann (entered in the console, not verified)")


def text(at):
    return " ".join(element.proto.body for element in at.get("html"))


def test_nothing_was_asked_for_yet(open_page, seeded):
    at = open_page("requests")
    assert "No requests yet" in text(at)


def test_a_request_to_resume_isnt_called_pause(open_page, store, request_id):
    assert not store.requests.get(request_id).resumes
    plan = Plan(scenario="pause", pipeline="billing", options={"resume": True})
    new = NewRequest(
        scenario="pause",
        pipeline="billing",
        reason="fixed",
        plan_hash=plan.hash,
        plan=dump_plan(plan),
    )
    asked = store.requests.ask(new, by="ann (entered in the console, not verified)")
    assert store.requests.get(asked).resumes
    (table,) = open_page("requests").dataframe
    assert set(table.value["Scenario"]) == {"pause --resume", "from-point"}
    assert "pause --resume" in text(open_page("requests", request=asked))


def test_who_declines_gives_a_name_and_a_reason(open_page, store, request_id):
    at = open_page("requests", request=request_id)
    assert not at.exception
    assert "orders of noon were lost" in text(at)
    assert "save the committed offsets" in text(at)
    assert at.button(key=RequestsKey.APPROVE).disabled
    at.text_input(key=RequestsKey.NAME).set_value("bob").run()
    assert not at.button(key=RequestsKey.APPROVE).disabled
    assert at.button(key=RequestsKey.DECLINE).disabled
    at.text_input(key=RequestsKey.REASON).set_value("not today").run()
    at.button(key=RequestsKey.DECLINE).click().run()
    assert not at.exception
    row = store.requests.get(request_id)
    assert (row.state, row.decided_by) == (
        RequestState.DECLINED,
        "bob (entered in the console, not verified)",
    )
    assert "declined: not today" in text(at)


def test_who_asked_can_only_take_it_back(open_page, store, request_id):
    at = open_page("requests", request=request_id)
    at.text_input(key=RequestsKey.NAME).set_value("ann").run()
    assert "another person must approve" in text(at)
    assert not any(button.key == RequestsKey.APPROVE for button in at.button)
    at.button(key=RequestsKey.CANCEL).click().run()
    assert store.requests.get(request_id).state is RequestState.CANCELLED
