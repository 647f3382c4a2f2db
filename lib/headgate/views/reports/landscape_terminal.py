"""The landscape for a terminal: pipelines, consumers, unused resources, paths, impact."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.table import Table
from rich.text import Text

from headgate.landscape.consumers import Consumer, consumers
from headgate.landscape.landscape import (
    Landscape,
    LandscapeGroup,
    LandscapePipeline,
    LandscapeTopic,
    PositionState,
)
from headgate.landscape.paths import Path, Reach
from headgate.landscape.unused_resources import undeclared_groups, unowned_topics, unread, unused
from headgate.text.numbers import count, plural, short_time, size
from headgate.views.layout.label_size import one_line
from headgate.views.reports.lag_words import DEFINITION

LISTED = 40
"""Maximum number of unused resources of a kind that are listed; the others are counted."""


def landscape_text(landscape: Landscape) -> RenderableType:
    """Return the pipelines, the consumers with their lag, and the unused resources."""
    parts: list[RenderableType] = [
        _line(_summary(landscape)),
        *(
            [_line(f"Lag: {DEFINITION}, read {short_time(landscape.at)} UTC.", "dim")]
            if landscape.at
            else []
        ),
        *_section("Pipelines", _pipelines(landscape.pipelines) if landscape.pipelines else None),
        *_section("Consumers", _consumers(consumers(landscape))),
        *_topics("Topics with neither producers nor consumers", unused(landscape)),
        *_topics("Topics without consumers", unread(landscape)),
        *_topics("Internal topics without a known owner", unowned_topics(landscape)),
        *_groups("Undeclared groups", undeclared_groups(landscape)),
    ]
    return Group(*parts)


def path_text(path: Path, start: str, end: str) -> RenderableType:
    """Return the way stop by stop, or why there is none."""
    if path.exists:
        more = "Other paths exist." if path.has_more else "This is the only path."
        return Group(*_steps(path.stops), _line(more))
    none = _line(f"No data flows from {start} to {end}.")
    if not path.back:
        return Group(none, _line(f"No data flows from {end} to {start}, either."))
    return Group(none, _line(f"Data flows from {end} to {start}:"), *_steps(path.back_stops))


def reach_text(reach: Reach, start: str) -> RenderableType:
    """Return what a change reaches, and whom to notify."""
    if not reach.nodes:
        return _line(f"Nothing is downstream of {start}.")
    rows = [
        ("Pipelines", reach.pipelines),
        ("Topics", reach.topics),
        ("State stores", reach.stores),
        ("Sinks", reach.sinks),
        ("Groups", reach.groups),
        *((f"Notify {owner}", names) for owner, names in reach.owners),
        ("Owner not set", reach.unowned),
    ]
    table = _Rows()
    for title, names in rows:
        if names:
            table.add_row(_line(title), _line(", ".join(map(one_line, names))))
    return Group(_line(f"Downstream of {start}:"), table)


def _summary(landscape: Landscape) -> str:
    parts = (
        plural(len(landscape.pipelines), "pipeline"),
        plural(len(landscape.topics), "topic"),
        plural(len(landscape.groups), "group"),
    )
    seen = f"read at {short_time(landscape.at)} UTC" if landscape.at else "not read"
    return f"{', '.join(parts)}; Kafka cluster state {seen}"


def _line(text: str, style: str = "") -> Text:
    return Text(one_line(text), style=style, overflow="fold")


def _section(title: str, body: RenderableType | None) -> Iterator[RenderableType]:
    if body is not None:
        yield Text("")
        yield Text(title, style="bold")
        yield body


class _Rows:
    """A table without lines between its cells.

    rich measures and wraps every cell, which takes a millisecond a row. Above `WRAPPED` rows the
    columns are as wide as their longest cell, and a terminal wraps whole lines.
    """

    def __init__(self, *heads: str) -> None:
        self.heads = heads
        self.rows: list[tuple[Text, ...]] = []

    def add_row(self, *cells: Text | str) -> None:
        """Add one row, a cell for each head."""
        self.rows.append(tuple(_line(c) if isinstance(c, str) else c for c in cells))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        yield from self._lines() if len(self.rows) > WRAPPED else (self._table(),)

    def _table(self) -> Table:
        table = Table(box=None, show_header=bool(self.heads), header_style="dim", pad_edge=False,
                      padding=(0, 2, 0, 0))  # fmt: skip
        for head in self.heads:
            table.add_column(head, overflow="fold", justify="right" if head in NUMBERS else "left")
        for row in self.rows:
            table.add_row(*row)
        return table

    def _lines(self) -> Iterator[Text]:
        rows = [tuple(Text(head, style="dim") for head in self.heads), *self.rows]
        widths = [max(cell.cell_len for cell in column) for column in zip(*rows, strict=True)]
        right = [head in NUMBERS for head in self.heads]
        for row in rows:
            line = Text(no_wrap=True)
            for cell, width, is_number in zip(row, widths, right, strict=True):
                space = " " * (width - cell.cell_len)
                line.append(space if is_number else "").append_text(cell)
                line.append(("" if is_number else space) + "  ")
            line.rstrip()
            yield line


WRAPPED = 200
NUMBERS = frozenset({"lag", "partitions", "records", "size", "lost"})


def _pipelines(pipelines: Iterable[LandscapePipeline]) -> _Rows:
    table = _Rows("name", "engine", "owner", "status", "lag", "reads", "writes", "")
    for p in pipelines:
        table.add_row(
            _line(p.name, "bold"), _line(p.engine.value), _line(p.owner or "-"),
            _line(p.status or "-"), _line(count(p.lag)), _line(_names(p.reads)),
            _line(_names(p.writes)), _line(p.note or "", "dim"),
        )  # fmt: skip
    return table


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:3])
    return f"{shown} and {len(names) - 3} more" if len(names) > 3 else shown or "-"


def _consumers(found: Sequence[Consumer]) -> _Rows | None:
    if not found:
        return None
    table = _Rows("consumer", "kind", "topic", "partitions", "lag", "lost", "")
    for c in found:
        lost = count(c.lost) if c.lost else ""
        table.add_row(
            _line(c.name), _line(c.kind), _line(c.topic), _line(str(len(c.positions) or "-")),
            _line(count(c.lag)), _line(lost, "bold red"), _line(note(c), "dim"),
        )  # fmt: skip
    return table


def note(consumer: Consumer) -> str:
    """Return what is to be said of a consumer's positions, in a few words."""
    states = {p.state for p in consumer.positions}
    words = [REMARKS[state] for state in REMARKS if state in states]
    if all(p.position is None for p in consumer.positions):
        words = [
            "read as a static DataFrame (no offsets)" if consumer.is_static else "position unknown"
        ]
    if not consumer.declared:
        words.append("undeclared")
    return ", ".join(words)


REMARKS = {
    PositionState.DATA_LOST: "Kafka deleted unread records",
    PositionState.BEYOND_END: (
        "position is after the latest offset: topic probably recreated or truncated"
    ),
    PositionState.NOT_LISTED: "not all partitions are in Kafka",
    PositionState.NO_OFFSET: "some partitions have no stored offset",
}


def _topics(title: str, topics: Sequence[LandscapeTopic]) -> Iterator[RenderableType]:
    table = _Rows("topic", "partitions", "records", "size", "")
    for t in topics[:LISTED]:
        parts = str(t.partitions) if t.partitions is not None else "-"
        about = f"possible owners: {', '.join(t.candidates)}" if t.candidates else ""
        table.add_row(
            _line(t.name), parts, count(t.records), size(t.bytes), _line(about, "dim")
        )  # fmt: skip
    yield from _section(f"{title} ({len(topics)})", table if topics else None)
    yield from _rest(len(topics))


def _groups(title: str, groups: Sequence[LandscapeGroup]) -> Iterator[RenderableType]:
    table = _Rows("group", "type", "state", "lag", "reads")
    for g in groups[:LISTED]:
        topics = tuple(dict.fromkeys(p.topic for p in g.positions))
        table.add_row(
            _line(g.id), _line(g.type.value), _line(g.state), count(g.lag), _line(_names(topics))
        )
    yield from _section(f"{title} ({len(groups)})", table if groups else None)
    yield from _rest(len(groups))


def _rest(number: int) -> Iterator[RenderableType]:
    if number > LISTED:
        yield _line(f"and {number - LISTED} more (--format json lists all)", "dim")


def _steps(stops: Iterable[str]) -> Iterator[Text]:
    for number, stop in enumerate(stops):
        kind, _, name = stop.partition(":")
        known = kind in ("topic", "pipeline", "group")
        arrow = "  " if not number else "→ "
        shown = Text(arrow, style="dim")
        shown.append(f"{kind if known else 'node':<9}", style="dim")
        yield shown.append(one_line(name if known else stop), style="bold")
