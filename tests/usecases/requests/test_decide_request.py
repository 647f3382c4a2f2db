"""Approve a request: what is decided says so, and a stale plan needs a new request."""

from __future__ import annotations

from contextlib import closing

import pytest

from headgate.errors import RefusedError, StalePlanError, with_next_step
from headgate.model.registered_pipelines import Registry
from headgate.reprocess.plan import Plan, dump_plan
from headgate.reprocess.steps.offsets.record_offsets import RecordOffsets
from headgate.store import open_store
from headgate.store.rows import NewRequest
from headgate.usecases.context import Context
from headgate.usecases.requests import decide_request

PLAN = Plan(scenario="from-point", pipeline="q", steps=(RecordOffsets(group="g"),))


@pytest.fixture
def context(tmp_path):
    registry = Registry(path=tmp_path / "headgate.toml")
    return Context(registry=registry, store_url=f"sqlite:///{tmp_path / 'db'}", home=tmp_path)


@pytest.fixture
def request_(context):
    new = NewRequest(
        scenario=PLAN.scenario, pipeline="q", reason="a bug", plan_hash=PLAN.hash,
        plan=dump_plan(PLAN),
    )  # fmt: skip
    with closing(open_store(context.store_url)) as store:
        return store.requests.ask(new, by="ann")


def test_a_decided_request_is_called_decided_and_not_stale(context, request_, monkeypatch):
    monkeypatch.setattr(decide_request, "approved_now", lambda *_: pytest.fail("built a plan"))
    with pytest.raises(RefusedError, match="another person must approve it"):
        decide_request.approve_request(context, request_, by="ann")
    decide_request.decline_request(context, request_, by="bob", reason="no")
    with pytest.raises(RefusedError, match="was already declined by bob"):
        decide_request.approve_request(context, request_, by="bob")


def test_a_stale_request_needs_a_new_request_and_not_a_plan_of_the_approver(
    context, request_, monkeypatch
):
    def stale(*_):
        raise StalePlanError("the plan is stale: partitions was 2, is now 3")

    monkeypatch.setattr(decide_request, "approved_now", stale)
    with pytest.raises(StalePlanError) as raised:
        decide_request.approve_request(context, request_, by="bob")
    said = with_next_step(raised.value)
    assert said.startswith(
        "the plan is stale: partitions was 2, is now 3. Decline the request with"
    )
    assert said.endswith("Its requester can then run `headgate request` again")
