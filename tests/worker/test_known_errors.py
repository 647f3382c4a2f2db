"""What a worker can't do now is one line in its log, not one a second."""

from contextlib import closing

import pytest

from headgate.store import open_store
from headgate.store.worker_slots import Slot
from headgate.usecases.schedules.run_due import Scheduler
from headgate.worker.main import Worker


@pytest.fixture
def worker(tmp_path):
    """A worker that isn't started, whose headgate.toml is broken."""
    (tmp_path / "headgate.toml").write_text("[[pipeline]\n")
    with closing(open_store(f"sqlite:///{tmp_path / 'h.db'}")) as store:
        made = Worker(str(tmp_path / "headgate.toml"), store, Slot(store.database), idle_exit=None)
        made._scheduler = Scheduler()
        yield made


@pytest.mark.slow
@pytest.mark.parametrize("work", ["_run_due_ticks", "_read_pipelines", "_check_pipelines"])
def test_a_broken_registry_is_one_line_until_it_is_corrected(worker, tmp_path, caplog, work):
    def looks(times=3):
        caplog.clear()
        for _ in range(times):
            worker._guarded(getattr(worker, work))
        return caplog.records

    (record,) = looks()
    assert record.exc_info is None
    assert "headgate.toml" in record.getMessage()
    assert looks() == []
    (tmp_path / "headgate.toml").write_text('[[pipeline]]\nname = "q"\n')
    (record,) = looks()
    assert "needs 'engine'" in record.getMessage()
    (tmp_path / "headgate.toml").write_text("")
    assert looks() == []
    (tmp_path / "headgate.toml").write_text("[[pipeline]\n")
    assert len(looks()) == 1


def test_a_defect_keeps_its_traceback(worker, caplog):
    def broken():
        raise ZeroDivisionError

    for _ in range(2):
        worker._guarded(broken)
    assert [r.exc_info[0] for r in caplog.records] == [ZeroDivisionError] * 2
