import pytest

from headgate.store import open_store
from headgate.store.rows import NewRun


@pytest.fixture
def url(tmp_path):
    return f"sqlite:///{tmp_path / 'state' / 'headgate.db'}"


@pytest.fixture
def store(url):
    opened = open_store(url)
    yield opened
    opened.close()


@pytest.fixture
def new_run():
    def make(*resources, undo_of=None):
        return NewRun(
            scenario="from-scratch",
            pipeline="billing",
            plan_hash="h",
            plan="{}",
            resources=resources or ("group:billing",),
            undo_of=undo_of,
        )

    return make
