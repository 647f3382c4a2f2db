"""Read how often restore points are made: `[restore_points]`, and a pipeline's own."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from headgate.model.registered_pipelines import PointSchedule
from headgate.parse.config.keys import names
from headgate.parse.config.toml_table import Table
from headgate.text.numbers import read_size
from headgate.text.times import read_duration

_KEY = "restore_points"
_KEYS = names("[restore_points]")


def read_schedule(top: Table) -> PointSchedule:
    """Return what `[restore_points]` says; without the table no points are made."""
    table = top.table(_KEY, "[restore_points]").allow(*_KEYS)
    return _read(table, PointSchedule())


def read_own_schedule(table: Table, common: PointSchedule) -> PointSchedule | None:
    """Return a pipeline's own schedule, None if it has none.

    `false` turns points off; keys that its table lacks are those of `[restore_points]`.
    """
    value = table.data.get(_KEY)
    if value is None:
        return None
    if value is False:
        return replace(common, every=None)
    if not isinstance(value, dict):
        table.fail(_KEY, f'{_KEY!r} must be false or a table such as {{ every = "1h" }}')
    return _read(table.table(_KEY, "restore_points").allow(*_KEYS), common)


def _read(table: Table, common: PointSchedule) -> PointSchedule:
    every, keep, most = (table.text(key) for key in _KEYS)
    found = replace(
        common,
        every=_duration(table, "every", every) if every else common.every,
        keep=_duration(table, "keep", keep) if keep else common.keep,
        max_bytes=_bytes(table, most) if most else common.max_bytes,
    )
    if table.data and found.every is None:
        table.fail("every", 'restore points need `every`, such as every = "1h"')
    if found.every is not None and found.keep < found.every:
        table.fail("keep", "`keep` must be at least as long as `every`")
    return found


def _duration(table: Table, key: str, text: str) -> timedelta:
    try:
        found = read_duration(text)
    except ValueError as error:
        table.fail(key, str(error))
    if not found:
        table.fail(key, f"{key!r} must be longer than 0 seconds")
    return found


def _bytes(table: Table, text: str) -> int:
    try:
        return read_size(text)
    except ValueError as error:
        table.fail("max_size", str(error))
