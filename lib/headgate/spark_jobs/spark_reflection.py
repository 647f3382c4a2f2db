"""Read what Spark's own objects keep private, and turn Scala's collections into Python's."""

from __future__ import annotations

from typing import Any


def field(java_object: Any, name: str) -> Any:
    """Return the value of a private field, looked for from the object's class up."""
    owner = java_object.getClass()
    while owner is not None:
        for candidate in owner.getDeclaredFields():
            if candidate.getName() == name:
                candidate.setAccessible(True)
                return candidate.get(java_object)
        owner = owner.getSuperclass()
    raise AttributeError(name)


def elements(scala_seq: Any) -> list[Any]:
    """Return the elements of a Scala `Seq` in order."""
    return [scala_seq.apply(index) for index in range(scala_seq.size())]


def mapping(scala_map: Any) -> dict[str, str]:
    """Return a Scala map of strings, with the keys as they were given."""
    pairs = scala_map.iterator()
    found = {}
    while pairs.hasNext():
        pair = pairs.next()
        found[str(pair._1())] = str(pair._2())
    return found


def case_kept(case_insensitive_map: Any) -> dict[str, str]:
    """Return Spark's `CaseInsensitiveMap` with the keys as they were given."""
    return mapping(case_insensitive_map.originalMap())


def option(scala_option: Any) -> Any:
    """Return what a Scala `Option` holds, None where it is empty."""
    return scala_option.get() if scala_option.isDefined() else None


def companion(jvm: Any, name: str) -> Any:
    """Return the instance behind a Scala `object` of that full name."""
    return getattr(getattr(jvm, f"{name}$"), "MODULE$")
