from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.errors import NotFoundError
from headgate.model.version import Engine, Sink, Version


def version(**facts):
    return Version(engine=Engine.SPARK, captured_at="2026-01-01T00:00:00", **facts)


def test_numbers_grow_only_where_the_content_changed(store):
    assert store.versions.add("a", version(), "f1") == (1, True)
    assert store.versions.add("a", version(), "f1") == (1, False)
    assert store.versions.add("a", version(sink=Sink(format="kafka")), "f2") == (2, True)
    assert store.versions.add("a", version(), "f1") == (3, True)
    assert store.versions.add("b", version(), "f1") == (1, True)
    assert [(r.pipeline, r.number) for r in store.versions.list()] == [
        ("a", 1),
        ("a", 2),
        ("a", 3),
        ("b", 1),
    ]
    assert store.versions.list("a")[1].summary == "sink kafka"
    assert store.versions.get("a", 2).sink.format == "kafka"
    assert store.versions.newest("a") == version()
    assert store.versions.newest("c") is None


def test_two_that_see_the_same_change_add_it_once(store):
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: store.versions.add("a", version(), "f"), range(16)))
    assert sorted(found, key=lambda f: f[1])[-1] == (1, True)
    assert sum(is_new for _, is_new in found) == 1


def test_a_number_that_is_not_there(store):
    with pytest.raises(NotFoundError, match="no version of a is stored"):
        store.versions.get("a", 1)
    store.versions.add("a", version(), "f")
    with pytest.raises(NotFoundError, match="stored are 1 to 1"):
        store.versions.get("a", 7)
