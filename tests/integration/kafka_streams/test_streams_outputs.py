"""What a reset of a real Kafka Streams application leaves in its output is what its plan says."""

from __future__ import annotations

import pytest

from headgate.gateway.kafka.connect import open_kafka
from headgate.text.times import from_milliseconds, iso
from integration.kafka_streams.streams_application import apply, at_work, undo
from support import resettable
from support.waiting import until

pytestmark = pytest.mark.kafka

QUICK = {"session_timeout_ms": 6000, "heartbeat_interval_ms": 500}
KEYS = [f"k{number}" for number in range(40)]
POINT = 125_000


def newest(app):
    """The newest value of each key in the output."""
    return {key: values[-1] for key, values in app.written().items()}


def end_of_output(app):
    part = (f"{app.name}-out", 0)
    with open_kafka(app.team.context.registry) as kafka:
        return kafka.begin_end([part])[part][1]


@pytest.mark.long
def test_windows_of_before_the_point_overwrite_correct_results_and_its_undo_counts_from_zero(
    tmp_path, broker, class_path
):
    with at_work(tmp_path, broker, class_path, kind="windowed", **QUICK) as app:
        read = resettable.read(broker, app.topic)
        records = [(key, value, at - resettable.base_time()) for key, value, at in read]
        right = newest(app)
        point = iso(from_milliseconds(resettable.base_time() + POINT))
        plan, run = apply(
            app.team, "from-point", f"--to-datetime={point}",
            f"--internal-topics={app.name}-per-minute-changelog",
        )  # fmt: skip
        said = " ".join(plan["outputs"]["run"])
        assert f"that began before {point} are too small" in said
        assert f"overwrite correct results in {app.name}-out and stay wrong" in said

        first = next(i for i, (_, _, at) in enumerate(records) if at >= POINT)
        total = len(resettable.windowed(read)) + len(resettable.windowed(read[first:]))
        until(lambda: end_of_output(app) >= total, "it does not count again")
        now = newest(app)
        small = {window for window, count in now.items() if int(count) < int(right[window])}
        assert small, "no window came out too small"
        assert all(begin(window) < POINT for window in small)
        assert all(now[window] == right[window] for window in now if begin(window) >= POINT)

        assert "restart from zero at the old offsets" in " ".join(plan["outputs"]["undo"])
        until(app.is_at_the_end, "it commits nothing more")
        undo(app.team, run)
        assert newest(app) == now, "the undo changed the output"
        (window,) = [w for w in right if w.startswith("c@") and begin(w) == 240_000]
        app.write([("c", 252_000)])
        until(lambda: end_of_output(app) > total, "it does not go on")
        assert (right[window], newest(app)[window]) == ("1", "1"), "it went on with the old state"


def begin(window):
    """When a window begins, in milliseconds behind the tests' time."""
    return int(window.partition("@")[2]) - resettable.base_time()


@pytest.mark.long
def test_an_undo_before_it_caught_up_leaves_wrong_newest_values_until_the_next_record(
    tmp_path, broker, class_path
):
    slow = tmp_path / "slow"
    with at_work(tmp_path, broker, class_path, kind="windowed", slow=slow, **QUICK) as app:
        first = end_of_output(app)
        app.write([(key, 300_000) for _ in range(3) for key in KEYS])
        until(lambda: set(counts(app)) == {"3"}, lambda: counts(app))
        until(app.is_at_the_end, "it commits nothing more")
        before = end_of_output(app)
        slow.touch()
        plan, run = apply(
            app.team, "from-scratch", "--back-up-internal",
            f"--internal-topics={app.name}-per-minute-changelog",
        )  # fmt: skip
        said = " ".join(plan["outputs"]["undo"])
        assert f"of a key in {app.name}-out stays wrong until the key's next record" in said
        assert "State and offsets are restored" in said
        until(lambda: end_of_output(app) >= before + first + 5, "it does not count again")
        shown = app.team.run("undo", run, "--dry-run")
        assert any("still has to reprocess" in text for text in shown["outputs"]["run"])
        undo(app.team, run)

        slow.unlink()
        until(app.is_at_the_end, "it commits nothing more")
        assert {"1", "2"} & set(counts(app)), "no newest value is wrong"
        app.write([(key, 310_000) for key in KEYS])
        until(lambda: set(counts(app)) == {"4"}, lambda: counts(app))


def counts(app):
    """The newest count of each key in the last window."""
    found, window = newest(app), resettable.base_time() + 300_000
    return [found.get(f"{key}@{window}") for key in KEYS]
