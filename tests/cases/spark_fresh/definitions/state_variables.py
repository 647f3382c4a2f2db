"""transformWithState: its variables, their kinds, types, times to live, timers and modes.

A processor adds what it reads to each of its variables and tells all of them, by their fields, so
that another reading of stored bytes is seen in the output.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import pandas as pd
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming import StatefulProcessor
from recorder.case import FIRST, Build, Place, Version, at, case
from recorder.case import ROCKSDB as _ROCKSDB

ROCKSDB = {**_ROCKSDB, "spark.sql.shuffle.partitions": "1"}
# Kind, name, value fields (DDL), key fields of a map, time to live in ms.
Variable = tuple[str, str, str, str, int | None]
HOUR = 3_600_000
AVRO = {**ROCKSDB, "spark.sql.streaming.stateStore.encodingFormat": "avro"}
# A clock asks for batches without data, without end.
QUIET = {
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
}
OUT = "k string, s string"


def value(name: str, fields: str = "c long", ttl: int | None = None) -> Variable:
    return ("value", name, fields, "", ttl)


def listed(name: str, fields: str = "v int", ttl: int | None = None) -> Variable:
    return ("list", name, fields, "", ttl)


def mapped(
    name: str, fields: str = "c long", key: str = "d string", ttl: int | None = None
) -> Variable:
    return ("map", name, fields, key, ttl)


def _columns(ddl: str) -> list[tuple[str, str]]:
    """Return names and types; a nested one counts as a struct of a single field."""
    out = []
    for part in ddl.replace(" not null", "").split(", "):
        name, _, kind = part.partition(" ")
        out.append((name, kind))
    return out


def _as(kind: str, given: Any) -> Any:
    if given is None:
        return None
    if kind.startswith("struct"):
        return (_as(kind.partition(":")[2].rstrip(">"), given),)
    if kind in ("int", "long", "short"):
        return int(given)
    return float(given) if kind in ("double", "float") else str(given)


def _plain(found: Any) -> Any:
    if isinstance(found, (tuple, Row)):
        return [_plain(part) for part in found]
    return found if found is None or isinstance(found, str) else float(found)


def _grown(before: Any, name: str, kind: str, rows: Sequence[dict[str, Any]], factor: int) -> Any:
    """Return a field's next value: `c` counts rows, other numbers add `v` up, texts take `d`."""
    if kind == "string" and name != "c":
        return str(rows[-1]["d"]) if rows else before
    was = before[0] if isinstance(before, (tuple, Row)) else before
    more = len(rows) if name == "c" else sum(int(r["v"]) for r in rows)
    return _as(kind, int(float(was or 0)) + factor * more)


@cache
def kept(
    *variables: Variable,
    key: str | Sequence[str] = "k",
    mode: str = "Update",
    time: str = "None",
    out: str = OUT,
    factor: int = 1,
    rows_of: str = "rows",
    wakes: bool = False,
    deletes: str = "",
    initial: Sequence[tuple[str, int]] | None = None,
    delay: str = "",
    source: Build | None = None,
    told: str = "s",
) -> Build:
    """Return a transformWithState over the events that keeps these variables."""
    keys = [key] if isinstance(key, str) else list(key)
    columns = [name for name, _ in _columns(out)]

    def build(p: Place) -> DataFrame:
        class Keeper(StatefulProcessor):
            def init(self, handle: Any) -> None:
                self.handle, self.states = handle, {}
                for kind, name, fields, by, ttl in variables:
                    if kind == "value":
                        self.states[name] = handle.getValueState(name, fields, ttl)
                    elif kind == "list":
                        self.states[name] = handle.getListState(name, fields, ttl)
                    else:
                        self.states[name] = handle.getMapState(name, by, fields, ttl)
                if deletes:
                    handle.deleteIfExists(deletes)

            def handleInputRows(self, key: Any, rows: Any, timers: Any) -> Iterator[Any]:
                events = (
                    [r for f in rows for r in f.to_dict("records")]
                    if rows_of == "pandas"
                    else [r.asDict() for r in rows]
                )
                if wakes:
                    self.handle.registerTimer(self._moment(events, timers))
                yield self._row(key, self._take(events))

            def handleInitialState(self, key: Any, first: Any, timers: Any) -> None:
                events = first.to_dict("records") if rows_of == "pandas" else [first.asDict()]
                self._take(events)

            def handleExpiredTimer(self, key: Any, timers: Any, info: Any) -> Iterator[Any]:
                yield self._row(key, "woken")

            def close(self) -> None:
                pass

            def _moment(self, events: Any, timers: Any) -> int:
                if time == "EventTime":
                    return int(max(r["ts"].timestamp() for r in events) * 1000) + 12_000
                return int(timers.getCurrentProcessingTimeInMs()) + HOUR

            def _row(self, key: Any, said: Any) -> Any:
                given = {"k": str(key[0]), told: json.dumps(said), "n": 1, "s2": "more"}
                if rows_of == "pandas":
                    return pd.DataFrame({c: [given[c]] for c in columns})
                return Row(**{c: given[c] for c in columns})

            def _take(self, events: Any) -> dict[str, Any]:
                return {v[1]: self._added(v, self.states[v[1]], events) for v in variables}

            def _added(self, variable: Variable, state: Any, events: Any) -> Any:
                kind, _, fields, by, _ = variable
                columns = _columns(fields)
                if kind == "list":
                    for r in events:
                        state.appendValue(tuple(_as(t, r.get(c)) for c, t in columns))
                    return [_plain(found) for found in state.get()]
                if kind == "map":
                    for r in events:
                        at = tuple(_as(t, r.get(c)) for c, t in _columns(by))
                        was = state.getValue(at) if state.containsKey(at) else None
                        state.updateValue(at, self._next(columns, was, [r]))
                    return sorted(
                        ([_plain(found), _plain(state.getValue(found))] for found in state.keys()),  # noqa: SIM118
                        key=repr,
                    )
                was = state.get() if state.exists() else None
                state.update(self._next(columns, was, events))
                return {c: _plain(f) for (c, _), f in zip(columns, state.get(), strict=False)}

            def _next(self, columns: Any, was: Any, events: Any) -> tuple[Any, ...]:
                before = list(was) if was is not None else [None] * len(columns)
                return tuple(
                    _grown(b, c, t, events, factor)
                    for b, (c, t) in zip(before, columns, strict=False)
                )

        df = source(p) if source else p.marked(delay=delay) if delay else p.read()
        grouped = df.groupBy(*keys)
        options: dict[str, Any] = {}
        if initial is not None:
            rows = [(k, v, "i", None) for k, v in initial]
            first = p.spark.createDataFrame(rows, "k string, v int, d string, ts timestamp")
            options["initialState"] = first.groupBy(*keys)
        run = (
            grouped.transformWithStateInPandas
            if rows_of == "pandas"
            else grouped.transformWithState
        )
        return run(Keeper(), out, mode, time, **options)

    return build


def changed(name: str, change: str, old: Build, new: Build, **facts: Any) -> None:
    """Register a restart whose reason is in the processor's code, unless said otherwise."""
    given = {"settings": ROCKSDB, "first": AT_ONCE, "files_tell": False, "telling": True}
    case(name, change, old, new, **{**given, **facts})


N = value("n")
# A Python process is started for every batch that is planned: one batch each.
AT_ONCE = {"src": [[row for rows in FIRST["src"] for row in rows]]}
EARLY = {"src": [[("a", 1, "e", at(0)), ("b", 2, "e", at(1)), ("e", 3, "e", at(1))]]}
# Variables by their names.
changed("twv_added", "n -> n, list m", kept(N), kept(N, listed("m")))
changed("twv_removed", "n, list m -> n", kept(N, listed("m")), kept(N))
changed("twv_removed_and_deleted", "m goes, deleted", kept(N, value("m")), kept(N, deletes="m"))
changed(
    "twv_removed_and_back",
    "n, m -> n -> n, m",
    kept(N),
    kept(N, value("m")),
    earlier=((Version(kept(N, value("m")), settings=ROCKSDB), EARLY),),
)
changed("twv_one_renamed_of_two", "n, m -> n, o", kept(N, value("m")), kept(N, value("o")))
changed("twv_map_renamed", "map m -> map o", kept(mapped("m")), kept(mapped("o")))
changed("twv_declared_in_other_order", "n, m -> m, n", kept(N, value("m")), kept(value("m"), N))
# Kinds and types.
changed("twv_list_to_map", "list m -> map m", kept(N, listed("m")), kept(N, mapped("m")))
changed("twv_map_to_value", "map m -> value m", kept(N, mapped("m")), kept(N, value("m")))
changed("twv_wider", "c int -> c long", kept(value("n", "c int")), kept(N))
changed("twv_field_removed", "c, d -> c", kept(value("n", "c long, d string")), kept(N))
changed(
    "twv_same_types_exchanged",
    "c long, v long -> v long, c long",
    kept(value("n", "c long, v long")),
    kept(value("n", "v long, c long")),
)
changed(
    "twv_other_types_exchanged",
    "c long, d string -> d string, c long",
    kept(value("n", "c long, d string")),
    kept(value("n", "d string, c long")),
)
changed("twv_not_null", "c long -> c long not null", kept(N), kept(value("n", "c long not null")))
changed("twv_element_wider", "list v int -> long", kept(listed("m")), kept(listed("m", "v long")))
changed(
    "twv_map_key_type",
    "map by d string -> by v int",
    kept(mapped("m")),
    kept(mapped("m", key="v int")),
)
changed(
    "twv_map_key_field_renamed",
    "map by k string -> by d string",
    kept(mapped("m", key="k string")),
    kept(mapped("m", key="d string")),
)
changed("twv_map_value_type", "map c long -> c int", kept(mapped("m")), kept(mapped("m", "c int")))
# The same in Avro.
changed("twa_wider", "c int -> c long", kept(value("n", "c int")), kept(N), settings=AVRO)
changed("twa_narrower", "c long -> c int", kept(N), kept(value("n", "c int")), settings=AVRO)
changed(
    "twa_field_added", "c -> c, d", kept(N), kept(value("n", "c long, d string")), settings=AVRO
)
changed(
    "twa_field_removed", "c, d -> c", kept(value("n", "c long, d string")), kept(N), settings=AVRO
)
changed(
    "twa_exchanged",
    "c long, v long -> v long, c long",
    kept(value("n", "c long, v long")),
    kept(value("n", "v long, c long")),
    settings=AVRO,
)
changed(
    "twa_not_null",
    "c long -> c long not null",
    kept(N),
    kept(value("n", "c long not null")),
    settings=AVRO,
)
changed(
    "twa_element_wider",
    "list v int -> v long",
    kept(listed("m")),
    kept(listed("m", "v long")),
    settings=AVRO,
)
changed(
    "twa_element_to_text",
    "list v int -> v string",
    kept(listed("m")),
    kept(listed("m", "v string")),
    settings=AVRO,
)
changed(
    "twa_element_field_added",
    "list v int -> v int, d string",
    kept(listed("m")),
    kept(listed("m", "v int, d string")),
    settings=AVRO,
)
changed(
    "twa_map_key_wider",
    "map by v int -> by v long",
    kept(mapped("m", key="v int")),
    kept(mapped("m", key="v long")),
    settings=AVRO,
)
changed(
    "twa_map_value_wider",
    "map c int -> c double",
    kept(mapped("m", "c int")),
    kept(mapped("m", "c double")),
    settings=AVRO,
)
changed(
    "twa_struct_wider",
    "c struct<x:int> -> c struct<x:long>",
    kept(value("n", "c struct<x:int>")),
    kept(value("n", "c struct<x:long>")),
    settings=AVRO,
)
changed(
    "twa_to_text_and_field_added",
    "c long -> c string, d string",
    kept(N),
    kept(value("n", "c string, d string")),
    settings=AVRO,
)


def evolved(name: str, change: str, limit: dict[str, str], **facts: Any) -> None:
    """Register a second evolution of a value under a limit."""
    earlier = Version(kept(value("n", "c int")), settings={**AVRO, **limit})
    changed(
        name,
        change,
        kept(value("n", "c long")),
        kept(value("n", "c double")),
        earlier=((earlier, EARLY),),
        **{"settings": {**AVRO, **limit}, **facts},
    )


_STORE = "spark.sql.streaming.stateStore."
evolved(
    "twa_evolution_limit",
    "a third schema where two are allowed",
    {_STORE + "valueStateSchemaEvolutionThreshold": "2"},
)
evolved(
    "twa_schema_files_limit",
    "a third schema file where two are allowed",
    {_STORE + "maxNumStateSchemaFiles": "2"},
)
evolved("twa_evolved_twice", "a third schema", {})
changed(
    "twv_added_past_limit",
    "n -> n, list m, where one schema file is allowed",
    kept(N),
    kept(N, listed("m")),
    new_settings={**ROCKSDB, _STORE + "maxNumStateSchemaFiles": "1"},
)
changed(
    "twa_back_to_narrower",
    "c int -> c long -> c int",
    kept(N),
    kept(value("n", "c int")),
    earlier=((Version(kept(value("n", "c int")), settings=AVRO), EARLY),),
    settings=AVRO,
)
changed(
    "twa_removed_and_back_as_text",
    "n, m long -> n -> n, m string",
    kept(N),
    kept(N, value("m", "c string")),
    earlier=((Version(kept(N, value("m")), settings=AVRO), EARLY),),
    settings=AVRO,
)
# Times to live, timers and clocks.
LIVE, DIE = kept(N, time="ProcessingTime"), kept(value("n", ttl=HOUR), time="ProcessingTime")
CLOCK = {"settings": {**ROCKSDB, **QUIET}}
changed("twt_ttl_removed", "ttl 1 h -> none", DIE, LIVE, **CLOCK)
changed(
    "twt_ttl_changed",
    "ttl 1 h -> 2 h",
    DIE,
    kept(value("n", ttl=2 * HOUR), time="ProcessingTime"),
    **CLOCK,
)
changed(
    "twt_ttl_added_to_list",
    "list without -> with ttl",
    kept(listed("m"), time="ProcessingTime"),
    kept(listed("m", ttl=HOUR), time="ProcessingTime"),
    **CLOCK,
)
changed(
    "twt_ttl_removed_from_map",
    "map with ttl -> without",
    kept(mapped("m", ttl=HOUR), time="ProcessingTime"),
    kept(mapped("m"), time="ProcessingTime"),
    **CLOCK,
)
changed("twt_ttl_added_avro", "ttl added, avro", LIVE, DIE, settings={**AVRO, **QUIET})
changed("twt_ttl_removed_avro", "ttl removed, avro", DIE, LIVE, settings={**AVRO, **QUIET})
changed(
    "twt_ttl_and_wider_avro",
    "ttl stays, c int -> c long, avro",
    kept(value("n", "c int", ttl=HOUR), time="ProcessingTime"),
    DIE,
    settings={**AVRO, **QUIET},
)
changed(
    "twt_none_to_processing", "time mode None -> ProcessingTime", kept(N), LIVE, files_tell=True,
    **CLOCK,
)  # fmt: skip
EVENT = {"time": "EventTime", "delay": "10 seconds"}
changed(
    "twt_processing_to_event",
    "time mode ProcessingTime -> EventTime",
    kept(N, time="ProcessingTime", delay="10 seconds"),
    kept(N, **EVENT),
    files_tell=True,
    **CLOCK,
)
changed(
    "twt_event_to_none",
    "time mode EventTime -> None",
    kept(N, **EVENT),
    kept(N, delay="10 seconds"),
    files_tell=True,
)
changed("twt_timers_begun", "no timers -> timers", kept(N, **EVENT), kept(N, wakes=True, **EVENT))
changed("twt_timers_ended", "timers -> none", kept(N, wakes=True, **EVENT), kept(N, **EVENT))
changed(
    "twt_late_rows_allowed",
    "watermark 10 s -> 40 s, the same timers",
    kept(N, wakes=True, **EVENT),
    kept(N, wakes=True, time="EventTime", delay="40 seconds"),
)
