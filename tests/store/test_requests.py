"""Requests: who asked, who decided, and that nothing half-done is ever left behind."""

from __future__ import annotations

import threading
from dataclasses import replace

import pytest

from headgate.errors import NotFoundError, RefusedError, StalePlanError
from headgate.store import open_store
from headgate.store.rows import NewRequest, RequestState, RunState


@pytest.fixture
def asked():
    return NewRequest(
        scenario="from-scratch", pipeline="billing", reason="a bug", plan_hash="h", plan="{}"
    )


def test_somebody_asks_and_somebody_else_approves(store, asked, new_run):
    request = store.requests.ask(asked, by="ann")
    assert store.requests.get(request).state is RequestState.OPEN
    run = store.requests.approve(request, new_run(), by="bob", reason="looks right")
    row = store.requests.get(request)
    assert (row.state, row.run, row.decided_by, row.decision) == (
        RequestState.APPROVED,
        run,
        "bob",
        "looks right",
    )
    assert store.runs.get(run).state is RunState.QUEUED
    assert store.runs.get(run).created_by == "ann"
    assert store.requests.of_run(run) == row
    assert [(a.by, a.action, a.run) for a in store.audit.list(request=request)] == [
        ("ann", "request", None),
        ("bob", "approve", run),
    ]
    assert store.audit.list(request=request)[1].details == {"plan": "h", "reason": "looks right"}


def test_nobody_approves_what_they_asked_for(store, asked, new_run):
    request = store.requests.ask(asked, by="ann")
    with pytest.raises(RefusedError, match=f"Ask that person to run `headgate approve {request}`"):
        store.requests.approve(request, new_run(), by="ann")
    assert store.runs.list() == ()
    assert store.requests.get(request).state is RequestState.OPEN


@pytest.mark.parametrize(
    ("asked_by", "by"),
    [
        ("ann (uid 1000 on a, not verified)", "ann (uid 1000 on b, not verified)"),
        ("ann (uid 1000 on a, not verified)", "Ann (entered in the console, not verified)"),
    ],
)
def test_another_host_or_the_console_makes_nobody_somebody_else(
    store, asked, new_run, asked_by, by
):
    request = store.requests.ask(asked, by=asked_by)
    with pytest.raises(RefusedError, match="another person must approve"):
        store.requests.approve(request, new_run(), by=by)
    assert store.runs.list() == ()


def test_an_approval_is_for_one_plan(store, asked, new_run):
    request = store.requests.ask(asked, by="ann")
    with pytest.raises(StalePlanError, match="the plan changed after request"):
        store.requests.approve(request, replace(new_run(), plan_hash="other"), by="bob")
    assert store.runs.list() == ()


def test_an_approval_that_finds_the_resource_busy_leaves_the_request_open(store, asked, new_run):
    store.runs.enqueue(new_run("group:billing"), by="eve", action="apply")
    request = store.requests.ask(asked, by="ann")
    with pytest.raises(RefusedError, match="is queued and uses group billing"):
        store.requests.approve(request, new_run("group:billing"), by="bob")
    assert store.requests.get(request).state is RequestState.OPEN
    assert [a.action for a in store.audit.list(request=request)] == ["request"]


@pytest.mark.parametrize("end", ["approve", "decline", "cancel"])
def test_what_was_decided_stays_decided(store, asked, new_run, end):
    request = store.requests.ask(asked, by="ann")
    ends = {
        "approve": lambda by: store.requests.approve(request, new_run(), by=by),
        "decline": lambda by: store.requests.decline(request, by=by, reason="no"),
        "cancel": lambda by: store.requests.cancel(request, by=by),
    }
    ends[end]("ann" if end == "cancel" else "bob")
    state = store.requests.get(request)
    for other in ends.values():
        with pytest.raises(RefusedError, match="already"):
            other("eve")
    assert store.requests.get(request) == state
    assert len(store.audit.list(request=request)) == 2


def test_only_who_asked_takes_a_request_back(store, asked):
    request = store.requests.ask(asked, by="ann")
    with pytest.raises(RefusedError, match="only ann can cancel"):
        store.requests.cancel(request, by="bob")
    store.requests.cancel(request, by="ann")
    assert store.requests.get(request).state is RequestState.CANCELLED


def test_two_that_approve_at_once_queue_one_run(url, asked, new_run):
    first = open_store(url)
    request = first.requests.ask(asked, by="ann")
    stores = [open_store(url) for _ in range(4)]
    barrier, ends = threading.Barrier(len(stores)), []

    def approve(store, name):
        barrier.wait()
        try:
            ends.append(store.requests.approve(request, new_run(f"group:{name}"), by=name))
        except RefusedError as error:
            ends.append(error)

    threads = [
        threading.Thread(target=approve, args=(store, f"bob{n}")) for n, store in enumerate(stores)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(isinstance(end, str) for end in ends) == 1
    assert len(first.runs.list()) == 1
    for opened in (first, *stores):
        opened.close()


def test_requests_are_listed_newest_first(store, asked):
    ids = [store.requests.ask(asked, by="ann") for _ in range(2)]
    assert [row.id for row in store.requests.list()] == ids[::-1]
    with pytest.raises(NotFoundError, match="headgate requests"):
        store.requests.get("nope")
