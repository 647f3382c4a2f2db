"""The questions of scenarios that process data, as a browser shows them."""

from __future__ import annotations

import pytest

from browser.conftest import settle
from headgate.reprocess.scenarios.build import SCENARIOS
from support.console_seed import seed
from support.sampled import sampled

pytestmark = pytest.mark.browser
MORE = """
[[pipeline]]
name = "totals"
engine = "spark"
checkpoint = "ck/orders-by-city"
entry_point = "totals:build"
[pipeline.commands]
stop = "true"
start = "true"
deploy = "true"
rollback = "true"
"""
NAMES = ("historical-range", "ab", "late-batch", "online-upgrade", "incremental", "chain")


@pytest.fixture(scope="module")
def forms(tmp_path_factory, serving):
    file = seed(tmp_path_factory.mktemp("forms"))
    file.write_text(file.read_text() + MORE)
    yield from serving(file)


@sampled("name, scheme", NAMES, ["light", "dark"], one_in=5)
def test_a_form_asks_each_required_question(forms, visit, shoot, name, scheme):
    path = f"reprocess?pipeline=totals&scenario={name}"
    page = visit(path, at=forms, scheme=scheme, size=(1280, 1400))
    asked = [o.ask for o in SCENARIOS[name].options if o.required and o.ask and o.one_of is None]
    for question in asked:
        page.get_by_text(question).first.wait_for()
    page.get_by_text(SCENARIOS[name].title).first.wait_for()
    settle(page)
    shoot(page, f"form-{name}-{scheme}")
