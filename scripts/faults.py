"""Run every scene under every fault, print the table, write docs/faults.md.

`python scripts/faults.py [SCENE...] [--fault WORD] [--where WORD] [--short] [--chains]
[--alone] [--open] [--jobs N] [--table FILE]`. Without a scene's name all of tests/scenes are run.
The table is written after each chain and cell and says how many of a row's cells were run; it keeps
the rows that a run does not run again, each with its day. Exit 1 where a cell went wrong.
"""

from __future__ import annotations

import argparse
import itertools
import random
import sys
import tempfile
import threading
import time
import traceback
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from scenes import SCENES, Scene, scene  # noqa: E402
from scenes.chains import Chain, chains  # noqa: E402
from scenes.fault_table import ALONE, CHAINED, Result, Table, key  # noqa: E402
from scenes.faults import BROKER, KILLED, OUTAGES, TOGETHER, Cell, cells, survey  # noqa: E402
from scenes.forked import Forks  # noqa: E402
from scenes.lab import Kafka, Lab, begin_anew_where_disks_are_ours, may_mount  # noqa: E402

# How many pipelines one chain may take, and how many of its last cells are suspected.
_CHAINS, _SUSPECTS = 12, 3


def main() -> int:
    """Run what was requested."""
    given = _given()
    begin_anew_where_disks_are_ours(sys.argv)
    table = Table(given.table, [s.name for s in SCENES])
    with tempfile.TemporaryDirectory(prefix="headgate-faults-") as name:
        folder = Path(name).resolve()
        kafka = Kafka(folder / "kafka")
        try:
            with Forks(folder) as forks, _pool(given.jobs) as pool:
                _Matrix(Lab(folder, kafka, forks), pool, given, table).run()
        finally:
            kafka.close()
    print(table)
    return int(table.has_failures)


@contextmanager
def _pool(jobs: int) -> Iterator[ThreadPoolExecutor]:
    """Yield threads for the cells; after Ctrl-C the started ones end, and no others start."""
    pool = ThreadPoolExecutor(jobs)
    try:
        yield pool
    finally:
        pool.shutdown(cancel_futures=True)


def _given() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("scenes", nargs="*", help=f"of {', '.join(s.name for s in SCENES)}")
    parser.add_argument("--fault", default="", help="only faults with this word in their name")
    parser.add_argument("--where", default="", help="only points with this word in their name")
    parser.add_argument("--short", action="store_true", help="one cell of each row, without chains")
    parser.add_argument("--chains", action="store_true", help="only chains of several faults")
    parser.add_argument("--alone", action="store_true", help="each fault in a separate run")
    parser.add_argument("--open", action="store_true", help="only rows that never ran whole and ok")
    parser.add_argument("--jobs", type=int, default=4, help="cells at the same time (default 4)")
    parser.add_argument("--table", type=Path, help="page whose table is read and updated")
    given = parser.parse_args()
    known = {s.name for s in SCENES}
    for name in given.scenes:
        if name not in known:
            parser.error(f"there is no scene {name}; there are {', '.join(sorted(known))}")
    return given


class _Matrix:
    """What was requested, and how much of it is done."""

    def __init__(
        self, lab: Lab, pool: ThreadPoolExecutor, given: argparse.Namespace, table: Table
    ) -> None:
        self._lab, self._pool, self._given, self._table = lab, pool, given, table
        self._can_fill = may_mount()
        self._begun = time.monotonic()
        self._done = self._all = 0
        self._lock = threading.Lock()

    def run(self) -> None:
        """Survey each scene and kill its workers; last comes what needs the broker gone."""
        if not self._can_fill:
            _say("no disk is filled: that takes the right to mount one")
        kinds = [scene(name) for name in self._given.scenes] or SCENES
        rest = [cell for found in self._pool.map(self._begin, kinds) for cell in found]
        # What went wrong the last time comes first.
        rest = sorted(_spread(rest), key=lambda c: not self._went_wrong(c))
        linked, others = chains(rest, alone=self._given.alone)
        list(self._pool.map(self._strike, (c for c in linked if not c.outage)))
        list(self._pool.map(self._carry_out, others))
        outages = [c for c in linked if c.outage]
        for begin in range(0, len(outages), self._given.jobs):
            self._go_through_outages(outages[begin : begin + self._given.jobs])

    def _begin(self, kind: type[Scene]) -> list[Cell]:
        """Survey a scene and kill its workers in chains; returns the cells that are left."""
        wanted = self._surveyed(kind)
        with self._lock:
            self._all += len(wanted)
        if self._given.alone:
            return wanted
        kills = (KILLED, *(fault for fault, by in TOGETHER.items() if by == KILLED))
        killed = [c for c in wanted if c.fault in kills and c.target is not None]
        for chain in chains(killed)[0]:
            self._strike(chain)
        return [c for c in wanted if c not in killed]

    def _surveyed(self, kind: type[Scene]) -> list[Cell]:
        """Return the scene's cells that are wanted; none where it fails without any fault."""
        begun = time.monotonic()
        try:
            found = list(cells(kind, survey(self._lab, kind)))
        except Exception as error:
            cell = Cell(kind, "none", "", "")
            self._report_cell(Result(cell, time.monotonic() - begun, _reason(error)))
            return []
        with self._lock:
            self._table.expect(kind.name, found)
        _say(f"{kind.name}: {len(found)} cells")
        return self._chosen(found)

    def _chosen(self, found: Iterable[Cell]) -> list[Cell]:
        given = self._given
        wanted = [c for c in found if given.fault in c.fault and given.where in c.location]
        if given.chains:
            wanted = [c for c in wanted if c.target is not None]
        if given.open:
            wanted = [c for c in wanted if not self._is_whole(c)]
        if given.short:
            rows = itertools.groupby(sorted(wanted, key=key), key=key)
            # The midst of a step is where most can go wrong.
            short = [row[len(row) // 2] for row in (list(group) for _, group in rows)]
            chained = [] if given.alone else [c for c in wanted if c.target is not None]
            wanted = chained + [c for c in short if c not in chained]
        return [c for c in wanted if self._can_fill or c.fault != "disk full"]

    def _is_whole(self, cell: Cell) -> bool:
        row = self._table.row(cell.scene.name, key(cell))
        if row is None or cell.target is not None or not self._given.short:
            return row is not None and row.is_whole
        return bool(row.ok == row.run > 0)

    def _went_wrong(self, cell: Cell) -> bool:
        row = self._table.row(cell.scene.name, key(cell))
        return row is not None and row.ok < row.run

    def _carry_out(self, cell: Cell) -> None:
        assert cell.check is not None
        begun, error = time.monotonic(), ""
        try:
            cell.check(self._lab)
        except Exception as raised:
            error = _reason(raised)
        self._report_cell(Result(cell, time.monotonic() - begun, error))

    def _strike(self, chain: Chain) -> None:
        """Strike at all cells of the chain, in as many pipelines as it takes."""
        for _ in range(_CHAINS):
            way = _Way(chain, self._lab)
            way.go_to_the_end()
            if way.error:
                self._find_guilty(chain, way.error)
            else:
                self._count(chain)
            if not (chain.left and chain.kills):
                break
        for cell in chain.left:
            _say(f"       not run: {cell.scene.name}: {cell.fault}, {cell.location}")

    def _count(self, chain: Chain) -> None:
        struck = CHAINED if len(chain.struck) > 1 else ALONE
        for cell in chain.struck:
            self._report_cell(Result(cell, chain.seconds / len(chain.struck), "", struck))

    def _find_guilty(self, chain: Chain, error: str) -> None:
        """Run the last cells of a chain that ended badly one by one; the rest is to be repeated."""
        _say(f"       {chain.scene.name}: a chain of {len(chain.struck)} cells: {error}")
        suspects = (chain.struck or chain.left)[: -_SUSPECTS - 1 : -1]
        of = f"none of the last {len(suspects)} faults of the chain fails by itself: {error}"
        guilty, reason, struck = suspects[0], of, CHAINED
        for cell in suspects if len(chain.struck) > 1 else ():
            way = _Way(Chain(cell.scene, cell.fault, [cell]), self._lab)
            way.go_to_the_end()
            if way.error:
                guilty, reason, struck = cell, way.error, ALONE
                break
        self._report_cell(Result(guilty, chain.seconds, reason, struck))
        chain.left = [c for c in [*chain.struck, *chain.left] if c != guilty]

    def _go_through_outages(self, chains: Sequence[Chain]) -> None:
        """Bring the chains to where the broker is to go, and let them recover, again and again."""
        for _ in range(_CHAINS):
            ways = [_Way(chain, self._lab) for chain in chains]
            list(self._pool.map(_Way.advance, ways))
            while waiting := [way for way in ways if way.waits]:
                for fault in OUTAGES:
                    befallen = [w for w in waiting if w.waits and w.chain.befalls == fault]
                    if befallen:
                        self._without_a_broker(fault, befallen)
                    list(self._pool.map(_Way.advance, befallen))
            for way in ways:
                self._count_outages(way)
            chains = [way.chain for way in ways if way.chain.left and way.chain.kills]
            chains = [c for c in chains if not any(w.error for w in ways if w.chain is c)]
            if not chains:
                break

    def _without_a_broker(self, fault: str, ways: Sequence[_Way]) -> None:
        kafka = self._lab.kafka
        if fault == BROKER:
            kafka.kill()
        else:
            kafka.stop()
        try:
            list(self._pool.map(_Way.advance, ways))
        finally:
            kafka.start()

    def _count_outages(self, way: _Way) -> None:
        chain = way.chain
        if way.error:
            guilty = (chain.struck or chain.left)[-1]
            self._report_cell(Result(guilty, chain.seconds, way.error, CHAINED))
        else:
            self._count(chain)

    def _report_cell(self, result: Result) -> None:
        cell = result.cell
        how = "FAILED" if result.error else "ok"
        line = f"{how:6} {result.seconds:5.0f} s  {cell.scene.name}: {cell.fault}, {cell.location}"
        with self._lock:
            self._done += 1
            self._table.add(result)
            minutes = (time.monotonic() - self._begun) / 60
            _say(f"{minutes:5.1f} min {self._done:4}/{self._all} {line} ({cell.recovery})")
            if result.error:
                _say("       " + result.error.replace("\n", "\n       "))


def _spread(cells: Iterable[Cell]) -> list[Cell]:
    """Return the cells so that those that come first are of all scenes, faults and recoveries."""
    decks: dict[tuple[str, ...], list[Cell]] = {}
    for cell in cells:
        decks.setdefault((cell.scene.name, cell.fault, cell.recovery), []).append(cell)
    for name, deck in decks.items():
        random.Random(str(name)).shuffle(deck)
    rounds = itertools.zip_longest(*decks.values())
    return [cell for one in rounds for cell in one if cell is not None]


class _Way:
    """How far a chain has come; it `waits` where the broker must go or come back."""

    def __init__(self, chain: Chain, lab: Lab) -> None:
        self.chain, self.error, self.waits = chain, "", True
        self._steps = chain.run(lab)

    def advance(self) -> None:
        """Continue to the next step at which the broker must change, or to the end."""
        if not self.waits:
            return
        try:
            next(self._steps)
        except StopIteration:
            self.waits = False
        except Exception as error:
            self.error, self.waits = _reason(error), False

    def go_to_the_end(self) -> None:
        """Go the whole way; the broker stays."""
        while self.waits:
            self.advance()


def _reason(error: Exception) -> str:
    last = traceback.extract_tb(error.__traceback__)[-1]
    return str(error).strip() or f"{type(error).__name__} in {last.name}: {last.line}"


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
