"""Read what Spark's own objects keep private, and turn Scala's collections into Python's."""

from __future__ import annotations

import re
from typing import Any


def field(java_object: Any, name: str) -> Any:
    """Return the value of a private field, looked for from the object's class up."""
    return _declared(java_object, name).get(java_object)


def set_field(java_object: Any, name: str, value: Any) -> None:
    """Set a private field, looked for from the object's class up."""
    _declared(java_object, name).set(java_object, value)


def _declared(java_object: Any, name: str) -> Any:
    owner = java_object.getClass()
    while owner is not None:
        for candidate in owner.getDeclaredFields():
            if candidate.getName() == name:
                candidate.setAccessible(True)
                return candidate
        owner = owner.getSuperclass()
    raise AttributeError(name)


def elements(scala_seq: Any) -> list[Any]:
    """Return the elements of a Scala `Seq` in order."""
    return [scala_seq.apply(index) for index in range(scala_seq.size())]


def kind_of(node: Any) -> str:
    """Return the class of an operator or expression, such as `Project` or `Alias`."""
    return str(node.getClass().getSimpleName())


def id_of(named: Any) -> int:
    """Return the number of a named expression, which the operators above use it by."""
    return int(named.exprId().id())


def nodes_of(plan: Any) -> list[Any]:
    """Return an operator with all below it, or an expression with its parts."""
    return [plan, *(node for child in elements(plan.children()) for node in nodes_of(child))]


def output_ids(node: Any) -> frozenset[int]:
    """Return the numbers of an operator's columns."""
    return frozenset(id_of(a) for a in elements(node.output()))


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


def literal_path(path: str) -> str:
    """Return a path as `spark.read` takes it: there, `[a,b]`, `{a,b}`, `*` and `?` are a glob.

    The option `basePath` and writers take it as it is.
    """
    return re.sub(r"([{}\[\]*?\\])", r"\\\1", path)


def streaming_sources(analyzed: Any) -> list[dict[str, Any]]:
    """Return format, options, name and relation of each source, in the order of the leaves.

    A stream that is used twice is listed twice, as in the offset log.
    """
    found = []
    for leaf in elements(analyzed.collectLeaves()):
        relation = kind_of(leaf)
        if relation == "StreamingRelation":
            source = leaf.dataSource()
            about = {"format": str(source.className()), "options": mapping(source.options())}
        elif relation == "StreamingRelationV2":
            options = dict(leaf.extraOptions().items())
            about = {"format": str(leaf.sourceName()), "options": options}
        else:
            continue
        found.append({"relation": relation, **about, "name": _name(leaf)})
    return found


def _name(leaf: Any) -> str | None:
    """Return what `DataStreamReader.name` gave; Spark before 4.2 names no sources."""
    try:
        name = leaf.sourceIdentifyingName()
        is_given = kind_of(name) == "UserProvided"
        return str(name.name()) if is_given else None
    except Exception:
        return None


def given_name(reader: Any) -> str | None:
    """Return what `DataStreamReader.name` set in its Java object; None before Spark 4.2."""
    try:
        name = option(field(reader, "userProvidedSourceName"))
    except AttributeError:
        return None
    return str(name) if name is not None else None


_UNITS = ((86_400_000, "day"), (3_600_000, "hour"), (60_000, "minute"), (1000, "second"))


def trigger_words(trigger: Any) -> dict[str, Any] | None:
    """Return a Java `Trigger` as `{"processingTime": "5 seconds"}`; None for the default one."""
    kind = kind_of(trigger).rstrip("$")
    match kind:
        case "AvailableNowTrigger":
            return {"availableNow": True}
        case "OneTimeTrigger":
            return {"once": True}
        case "ContinuousTrigger":
            return {"continuous": _duration(int(trigger.intervalMs()))}
        case "RealTimeTrigger":
            return {"realTime": _duration(int(trigger.batchDurationMs()))}
        case "ProcessingTimeTrigger":
            interval = int(trigger.intervalMs())
            return {"processingTime": _duration(interval)} if interval else None
    return {kind: True}


def _duration(milliseconds: int) -> str:
    """Return milliseconds in the largest unit that holds them exactly, `90 second`s as seconds."""
    for size, unit in _UNITS:
        if milliseconds and milliseconds % size == 0:
            count = milliseconds // size
            return f"{count} {unit}{'s' if count != 1 else ''}"
    return f"{milliseconds} milliseconds"
