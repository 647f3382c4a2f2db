"""axe-core finds nothing on any page, in light and dark, full and empty."""

from __future__ import annotations

from contextlib import closing

import pytest

from browser.axe import violations
from browser.conftest import settle
from browser.test_console import ready
from headgate.store import open_store
from headgate.store.rows import RunState
from headgate.usecases.context import open_context
from headgate.usecases.reprocess.plan_scenario import plan_scenario
from headgate.usecases.requests.request_run import request_plan
from headgate.usecases.runs.apply_plan import apply_plan
from headgate.worker.runner import Runner
from support.console_seed import add_stopped_pipeline, seed
from support.sampled import sampled
from support.schedule_seed import add_schedules

pytestmark = pytest.mark.browser

GRAPH, HEAD = ".graph .node", ".hg-head"
FULL = {
    "landscape": ("", GRAPH),
    "landscape-folded": ("?level=internals&closed=orders-by-city/0", GRAPH),
    "landscape-node": ("?node=topic:orders&level=pipelines", ".st-key-details .hg-title, .graph"),
    "landscape-consumers": ("?view=consumers", ".stDataFrame"),
    "landscape-unused": ("?view=unused+resources", ".hg-head"),
    "topology": ("topology?pipeline=orders-by-city", GRAPH),
    "topology-node": (
        "topology?pipeline=orders-by-city&version=1&node=aggregate-city",
        GRAPH,
    ),
    "topology-progress": ("topology?pipeline=orders-by-city&view=progress", ".hg-empty"),
    "topology-history": ("topology?pipeline=orders-by-city&view=history", HEAD),
    "compare": ("compare?pipeline=orders-by-city", ".hg-verdict"),
    "compare-one": ("compare?pipeline=city-alerts", HEAD),
    "outputs": ("compare_output", ".hg-empty"),
    "reprocess": ("reprocess?pipeline=returns", "[class*=st-key-scenario_card_]"),
    "reprocess-plan": ("reprocess?pipeline=returns&scenario=from-scratch", ".hg-steps"),
    "reprocess-form": ("reprocess?pipeline=billing&scenario=from-point", HEAD),
    "requests": ("requests", ".stDataFrame"),
    "runs": ("runs", ".stDataFrame"),
    "run": ("runs?run={run}", ".hg-steps"),
    "schedules": ("schedules", ".stDataFrame"),
    "run-of-wizard": ("reprocess?pipeline=returns&run={run}", ".hg-steps"),
}
EMPTY = ("", "topology", "compare", "compare_output", "reprocess", "requests", "runs", "schedules")

# What Streamlit's own widgets break, rule by rule: it can't be mended from here.
STREAMLITS: dict[str, tuple[str, ...]] = {
    # A link that is disabled is grey, which is right, but isn't marked `aria-disabled`.
    "color-contrast": (".stPageLink",),
}
# A page over a cluster reads it again each few seconds.
_LOOKS = 4
# Whether the page's background is dark.
IS_DARK = """getComputedStyle(document.querySelector('.stApp')).backgroundColor
  .match(/[0-9.]+/g).slice(0, 3).every((part) => part < 90)"""


@pytest.fixture(scope="module")
def full(tmp_path_factory, serving):
    """A console with versions, a run that is done, a request; and the run's id."""
    file = seed(tmp_path_factory.mktemp("full"))
    add_stopped_pipeline(file)
    context = open_context(str(file))
    plan = plan_scenario(context, "from-scratch", "returns", {})
    run = apply_plan(context, plan, by="ann")
    with closing(open_store(context.store_url)) as store:
        row = store.runs.claim("slot-0")
        runner = Runner(lambda: context, store)
        assert row.id == run and runner.prepare(run, 1)[2] == len(plan.steps)
        for position in range(len(plan.steps)):
            assert runner.apply_step(run, 1, position) == (None, None)
        runner.finish(run, 1, RunState.DONE, None)
    again = plan_scenario(context, "from-scratch", "returns", {})
    request_plan(context, again, reason="orders of noon were counted twice", by="ann")
    with closing(open_store(context.store_url)) as store:
        add_schedules(store)
    for address in serving(file):
        yield address, run


@pytest.fixture(scope="module")
def empty(tmp_path_factory, serving):
    """A console whose configuration names neither Kafka nor a pipeline."""
    file = tmp_path_factory.mktemp("empty") / "headgate.toml"
    file.write_text("")
    yield from serving(file)


def check(page, shoot, name):
    """Nothing may break a rule but what is listed; named is the rule, the place and its HTML.

    One page is looked at in both schemes: it follows the system's while it is open.
    """
    found = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        page.wait_for_function(f"dark => ({IS_DARK}) === dark", arg=scheme == "dark")
        _still(page)
        shoot(page, f"axe-{name}-{scheme}")
        found += [(scheme, *one) for one in _violations(page)]
    assert not found, "\n".join(" | ".join(one) for one in found)


def _violations(page):
    """What breaks a rule each time: what is drawn again while axe looks is faded, not wrong."""
    for _ in range(_LOOKS):
        _still(page)
        found = [
            (rule, location, html)
            for rule, location, html in violations(page)
            if not any(own in location for own in STREAMLITS.get(rule, ()))
        ]
        if not found:
            break
    return found


def _still(page):
    page.wait_for_function("!document.querySelector('[data-stale=true]')")
    settle(page)


@sampled("name", FULL, one_in=5)
def test_a_page_with_content_breaks_no_rule(name, full, visit, shoot):
    address, run = full
    path, shown = FULL[name]
    page = visit(path.format(run=run), at=address, size=(1440, 900))
    page.locator(shown).first.wait_for()
    if shown == GRAPH:
        ready(page)
    check(page, shoot, name)


@sampled("path", EMPTY, one_in=5)
def test_an_empty_page_breaks_no_rule(path, empty, visit, shoot):
    page = visit(path, at=empty, size=(1440, 900))
    page.locator(".hg-empty").first.wait_for()
    check(page, shoot, f"empty-{path or 'landscape'}")


LIVE = {
    "map": ("?level=pipelines&all_topics=true", GRAPH),
    "pipeline": ("?level=pipelines&node=pipeline:orders-by-city", ".js-plotly-plot .bars path"),
    "consumers": ("?view=consumers", ".js-plotly-plot .bars path"),
    "consumer": ("?view=consumers&reader=billing%20city-revenue", ".js-plotly-plot .bars path"),
    "loose": ("?view=unused+resources", ".st-key-loose_groups canvas"),
    "topology": ("topology?pipeline=orders-by-city&version=1", GRAPH),
}


@pytest.mark.kafka
@sampled("name", LIVE, one_in=5)
def test_a_page_over_a_live_cluster_breaks_no_rule(name, live, visit, shoot):
    path, shown = LIVE[name]
    page = visit(path, at=live, size=(1440, 900))
    page.locator(shown).first.wait_for()
    check(page, shoot, f"live-{name}")
