"""The times at which schedules are due; all times are in UTC."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from headgate.model.schedules import Schedule

# Of a worker that was down for longer, no more ticks are counted.
MOST_TICKS = 1000
# The longest time between two ticks, and without records; the calendar ends in the year 9999.
MOST_DAYS = 3660
# Such a field is another one each time it is read (R), or needs a name to count from (H).
_RANDOM = re.compile(r"(^|[,\s])[rh]($|[\s,/(])", re.IGNORECASE)


def cron_problem(text: str) -> str | None:
    """Return why a text isn't a cron expression of five fields that is ever due; None if it is."""
    # Imported here: it takes a while, and hardly a command needs it.
    from croniter import CroniterError, croniter

    if len(text.split()) != 5:
        return "expected five fields: minute, hour, day of month, month, day of week"
    if _RANDOM.search(text):
        return "random (R) and hashed (H) fields aren't supported"
    try:
        croniter(text, datetime.now(UTC)).get_next(datetime)
    except (CroniterError, ValueError) as error:
        return str(error)
    return None


def next_tick(schedule: Schedule, anchor: datetime, after: datetime) -> datetime | None:
    """Return the first tick after `after`, None if there is none; `every` counts from `anchor`."""
    if schedule.every is not None:
        every = timedelta(seconds=schedule.every)
        return anchor + max((after - anchor) // every + 1, 1) * every
    if schedule.cron is not None:
        return next(_cron(schedule.cron, after, forward=True), None)
    return None


def due_ticks(
    schedule: Schedule, anchor: datetime, after: datetime, until: datetime
) -> tuple[datetime, ...]:
    """Return the newest 1,000 ticks after `after`, up to and including `until`, oldest first."""
    if schedule.every is not None:
        every = timedelta(seconds=schedule.every)
        last = (until - anchor) // every
        first = max((after - anchor) // every + 1, 1, last - MOST_TICKS + 1)
        return tuple(anchor + n * every for n in range(first, last + 1))
    if schedule.cron is not None:
        # A tick at `until` itself is due, and the walk begins before its start.
        found = _cron(schedule.cron, until + timedelta(microseconds=1), forward=False)
        return tuple(reversed([*islice(_later(found, after), MOST_TICKS)]))
    return ()


def _later(ticks: Iterator[datetime], after: datetime) -> Iterator[datetime]:
    for tick in ticks:
        if tick <= after:
            return
        yield tick


def _cron(text: str, start: datetime, *, forward: bool) -> Iterator[datetime]:
    from croniter import CroniterBadDateError, croniter

    ticks = croniter(text, start.astimezone(UTC))
    step = ticks.get_next if forward else ticks.get_prev
    while True:
        try:
            yield step(datetime)
        except CroniterBadDateError:
            # It is never due again in that direction.
            return
