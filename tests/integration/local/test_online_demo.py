"""The demo's orders-by-city is upgraded online, and back, while a consumer counts its results."""

import json
import signal
import subprocess
import sys
from collections import Counter
from contextlib import closing
from datetime import UTC, datetime, timedelta

import pytest

from headgate.local.demo.topics import CITY_REVENUE, ORDERS, PAYMENTS
from headgate.store import open_store
from headgate.usecases.context import open_context
from scenes.records import read_all
from support.running_stack import Stack

pytestmark = [pytest.mark.stack, pytest.mark.long]
NAME = "orders-by-city"
FASTER = "headgate.local.demo.orders_by_city:v2_faster"
MINUTE = timedelta(minutes=1)
# Orders that come later than this may be dropped by the watermark of one minute.
LATE = 50.0


class Demo:
    """The running demo, its command line, and what its topics hold."""

    def __init__(self, home, stack):
        self.home, self.stack, self.kafka = home, stack, stack.address("Kafka")

    def run(self, *args):
        argv = [sys.executable, "-m", "headgate.cli.main", "--config", self.home / "headgate.toml"]
        done = subprocess.run([*argv, *args, "--format", "json"], capture_output=True, text=True)
        assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout)

    def is_known(self):
        url = open_context(str(self.home / "headgate.toml")).store_url
        with closing(open_store(url)) as store:
            return store.versions.newest(NAME) is not None

    def values(self, topic):
        found = read_all(self.kafka, [topic.name])
        return [(json.loads(r.value), r.timestamp / 1000) for rs in found.values() for r in rs]

    def results(self):
        """How often each window and city was written, and its orders as they were last."""
        count, orders = Counter(), {}
        for value, _ in self.values(CITY_REVENUE):
            key = (datetime.fromisoformat(value["window_start"]), value["city"])
            count[key] += 1
            orders[key] = value["orders"]
        return count, orders

    def newest(self):
        """The start of the newest window that was written."""
        return max(window for window, _ in self.results()[0])

    def wait_for_window(self, after):
        """Wait until a window was written that is newer."""
        self.stack.wait(lambda: self.newest() > after, 600)

    def bounds(self):
        """By window how many paid orders there are: those that are surely in time, and all."""
        paid = {value["order_id"] for value, _ in self.values(PAYMENTS)}
        least, most = Counter(), Counter()
        for order, written in self.values(ORDERS):
            if order["status"] == "cancelled" or order["order_id"] not in paid:
                continue
            at = datetime.fromisoformat(order["ordered_at"])
            window = at.replace(second=0, microsecond=0)
            most[window] += 1
            if written - at.timestamp() < LATE:
                least[window] += 1
        return least, most


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    home = tmp_path_factory.mktemp("online") / "demo"
    stack = Stack(home)
    try:
        made = Demo(home, stack)
        stack.wait(stack.works)
        stack.wait(made.is_known)
        yield made
    finally:
        if stack.process.poll() is None:
            stack.end(signal.SIGTERM)


def check_windows(demo, first, last, results):
    """Each window from first to last has every paid order that was in time."""
    least, most = demo.bounds()
    found = Counter()
    for (window, _), orders in results.items():
        found[window] += orders
    window = first
    while window <= last:
        assert least[window] <= found[window] <= most[window], (
            f"{window}: {found[window]} orders, expected {least[window]} to {most[window]}"
        )
        window += MINUTE


def test_the_demo_switches_without_loss_and_without_duplicates(demo):
    demo.live = datetime.now(UTC).replace(second=0, microsecond=0) + MINUTE
    given = (f"--after={FASTER}", "--keys=city", "--keys=window_start", "--tolerance=50000")
    file = demo.home / "plan.json"
    options = (*given, "--compare-for=5", "-o", str(file))
    plan = demo.run("plan", "online-upgrade", NAME, *options)
    assert plan["can_apply"], plan["blockers"]
    assert plan["impact"]["consumers"] == ["revenue-alerts"]
    done = demo.run("apply", str(file))
    assert done["state"] == "done"
    demo.done = done["run"]
    assert (demo.home / "pipelines" / NAME / "deployed").read_text() == FASTER
    demo.at_switch = demo.newest()
    demo.wait_for_window(max(demo.at_switch, demo.live))
    count, orders = demo.results()
    assert {key: n for key, n in count.items() if n != 1} == {}, "results were written twice"
    check_windows(demo, demo.live, demo.newest(), orders)


def test_the_demo_rolls_back_and_repeats_only_what_was_announced(demo):
    before, last = set(demo.results()[0]), demo.newest()
    assert demo.run("undo", demo.done)["state"] == "done"
    assert not (demo.home / "pipelines" / NAME / "deployed").exists()
    demo.wait_for_window(last)
    count, orders = demo.results()
    twice = {key for key, n in count.items() if n > 1}
    # Only results since the switch, each once by either version; a few were written just before.
    assert twice and all(count[key] == 2 for key in twice)
    assert min(window for window, _ in twice) >= demo.at_switch - 3 * MINUTE
    assert before <= set(count), "results are gone"
    check_windows(demo, demo.live, demo.newest(), orders)
