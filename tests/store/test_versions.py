from concurrent.futures import ThreadPoolExecutor

import pytest

from headgate.errors import NotFoundError
from headgate.model.version import Engine, Sink, Version
from headgate.store.rows import Origin


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
    with pytest.raises(NotFoundError, match=r"Choose a stored version: a@1$"):
        store.versions.get("a", 7)


def test_a_capture_is_no_change_of_what_runs(store):
    seen, next_one = version(), version(sink=Sink(format="kafka"))
    assert store.versions.add("a", seen, "f1", origin=Origin.OBSERVED) == (1, True)
    assert store.versions.add("a", next_one, "f2") == (2, True)
    assert store.versions.add("a", seen, "f1", origin=Origin.OBSERVED) == (1, False)
    assert store.versions.newest("a") == next_one
    assert store.versions.running("a") == seen
    assert store.versions.add("a", next_one, "f2", origin=Origin.OBSERVED) == (3, True)
    assert store.versions.running("a") == next_one
    assert [r.origin.value for r in store.versions.list("a")] == [
        "observed",
        "captured",
        "observed",
    ]


def test_all_running_says_what_running_says_of_each(store):
    for pipeline, seen in (("a", 2), ("b", 0), ("c", 1)):
        for number in range(3):
            origin = Origin.OBSERVED if number < seen else Origin.CAPTURED
            made = Version(engine=Engine.SPARK, name=f"{pipeline}{number}")
            store.versions.add(pipeline, made, f"{pipeline}{number}", origin=origin)
    for _ in range(2):
        found = store.versions.all_running(["c", "a", "nowhere", "b"])
        assert list(found) == ["c", "a", "b"]
        assert found == {p: store.versions.running(p) for p in "cab"}
    store.versions.add("a", Version(engine=Engine.SPARK, name="a9"), "a9", origin=Origin.OBSERVED)
    assert store.versions.all_running(["a"])["a"].name == "a9"
