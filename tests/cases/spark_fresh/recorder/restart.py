"""Restart a changed query on the checkpoint of the old one, and run the controls beside it."""

from __future__ import annotations

import json
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from headgate.spark_jobs.user_functions import UsedFunctions
from recorder import evidence
from recorder.case import Case, Place, Version
from recorder.evidence import Texts
from recorder.run import Collector, Ran, build, run, seen
from recorder.world import World

BASE = {
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.debug.maxToStringFields": "1000000",
    "spark.sql.maxMetadataStringLength": "1000000",
}
# Nothing is compiled where nobody reads the plan: that takes most of a small batch's time.
_FASTER = {"spark.sql.codegen.wholeStage": "false", "spark.sql.codegen.factoryMode": "NO_CODEGEN"}


@dataclass
class Begun:
    """What an old version has left, for every case that begins with it."""

    folder: Path
    evidence: Path
    first: Ran
    files: list[Path]


@dataclass
class Restart:
    """What happened: `new` is the restart, `back` the old version after the attempt.

    The controls: the old version restarted (`same`, where it can't go on after the attempt), the
    new one over everything from its own checkpoint (`replay`) and over the new data alone
    (`fresh`); None where they can't be run, or where nothing hangs on them.
    """

    first: Ran
    new: Ran
    same: Ran | None
    replay: Ran | None
    fresh: Ran | None
    back: Ran
    written: dict[str, list[str]]


class Recording:
    """Records one case in a folder of its own."""

    def __init__(
        self, case: Case, spark: Any, root: Path, broker: str, used: UsedFunctions
    ) -> None:
        self.case, self.spark, self.broker, self.used = case, spark, broker, used
        self.begun = _BEGUN.get(_beginning(case)) if case.telling else None
        self.folder = self.begun.folder if self.begun else root / case.name / "main"
        self.folder.mkdir(parents=True, exist_ok=True)
        said = {str(root): "/data"} | ({broker: "broker:9092"} if broker else {})
        self.texts = Texts(said)
        self.world = World(self.folder, broker, case.topics)

    def record(self, into: Path) -> Restart:
        """Write the case's `before`, `after` and `captured` into `into`; return what happened."""
        shutil.rmtree(into, ignore_errors=True)
        first = self._again(into) if self.begun else self._begin(into)
        if self.case.surgery:
            self.case.surgery(self._ckpt("main"))
        self._capture(self.case.new, into, "after")
        return self._restart(first)

    def _begin(self, into: Path) -> Ran:
        """Run the old version, and all before it; what it leaves is kept for other cases."""
        shutil.rmtree(self.folder.parent)
        self.folder.mkdir(parents=True)
        for version, data in self.case.earlier:
            self.world.add(data)
            self._run(version, "main")
        self.world.add(self.case.first)
        self._capture(self.case.old, into, "before")
        first = self._run(self.case.old, "main", explains=not self.case.telling)
        if first.error:
            raise RuntimeError(f"the old version did not run: {first.error} {first.message}")
        self._note_before(first, into / "before")
        begun = Begun(self.folder, into, first, list(self.world.written))
        _BEGUN[_beginning(self.case)] = begun
        return first

    def _again(self, into: Path) -> Ran:
        """Take what the same old version has left before."""
        assert self.begun
        for name in ("before", "captured"):
            shutil.copytree(self.begun.evidence / name, into / name)
        (into / "captured" / "after.json").unlink(missing_ok=True)
        for file in self.folder.rglob("*.json"):
            if file not in self.begun.files:
                file.unlink()
        for name in ("new", "same", "replay", "fresh"):
            shutil.rmtree(self._ckpt(name), ignore_errors=True)
        self.world.written = list(self.begun.files)
        return self.begun.first

    def capture(self, into: Path) -> None:
        """Write `captured` anew, of a case whose sources are still there."""
        aside = self.folder.parent / "again"
        for version, side in ((self.case.old, "before"), (self.case.new, "after")):
            self._capture(version, aside, side)
        shutil.rmtree(into / "captured", ignore_errors=True)
        shutil.move(aside / "captured", into / "captured")
        shutil.rmtree(aside)

    def _restart(self, first: Ran) -> Restart:
        old_files = list(self.world.written)
        self.world.add(self.case.then, at_once=True)
        then_files = [f for f in self.world.written if f not in old_files]
        self._copy("main", "new")
        before = self._logs("new")
        new = self._run(self.case.new, "new")
        if new.error in _OF_THE_MACHINE:
            raise RuntimeError(f"the machine was too slow: {new.message}")
        written = {k: sorted(v - before[k]) for k, v in self._logs("new").items()}
        back = self._run(self.case.old, "new")
        same = replay = fresh = None
        if new.error and back.error:
            # Would the old version have gone on without the attempt?
            self._copy("main", "same")
            same = self._run(self.case.old, "same")
        if not new.error and not self.case.telling:
            replay = self._replay(then_files)
            # A query without state has none to lose.
            fresh = self._fresh(old_files) if self._keeps_state("new") else None
        return Restart(first, new, same, replay, fresh, back, written)

    def _keeps_state(self, name: str) -> bool:
        return (self._ckpt(name) / "state").exists()

    def _replay(self, then_files: list[Path]) -> Ran:
        """Run the new version over everything, cut where the old one was stopped."""
        if self.case.topics:
            return self._run(self.case.new, "replay")
        with self.world.without(then_files):
            ran = self._run(self.case.new, "replay")
        return ran if ran.error else self._run(self.case.new, "replay")

    def _fresh(self, old_files: list[Path]) -> Ran | None:
        """Run the new version over the new data alone."""
        if self.case.topics:
            return None
        with self.world.without([f for f in old_files if f.parent.name in self.case.then]):
            return self._run(self.case.new, "fresh")

    def _run(self, version: Version, name: str, *, explains: bool = False) -> Ran:
        """Run a version on the checkpoint `name`; its sink writes to a folder that goes with it."""
        place = self._place(version)
        for key, value in {} if explains else _FASTER.items():
            place.spark.conf.set(key, value)
        if not self.case.reader:
            return run(version, place, self._ckpt(name), explains=explains)
        # A file sink's log holds whole paths: every run writes where the first one did.
        _replace(self._kept(name), self._out())
        ran = run(version, place, self._ckpt(name), explains=explains)
        ran.seen = seen(self.case.reader, place)
        _replace(self._out(), self._kept(name))
        return ran

    def _place(self, version: Version) -> Place:
        session = self.spark.newSession()
        for key, value in {**BASE, **version.settings}.items():
            session.conf.set(key, value)
        return Place(session, self.folder, self._out(), self.broker)

    def _capture(self, version: Version, into: Path, side: str) -> None:
        place = self._place(version)
        captured = into / "captured" / f"{side}.json"
        # A capture has a process of its own: no function of another version is known to it.
        self.used.by_name.clear()
        try:
            made = build(version, place, Collector(Ran()))
        except Exception as error:
            known = {"error": evidence.refusal(error)}
            for path in (into / side / "capture.json", captured):
                self.texts.write(path, json.dumps(known))
        else:
            evidence.unstarted(made, self.used, into / side, captured, self.texts)
            if any(word in captured.read_text(encoding="utf-8") for word in _OF_THE_MACHINE):
                raise RuntimeError("the machine was too slow to plan the state")
        settings = json.dumps(dict(version.settings), indent=1)
        self.texts.write(into / side / "conf.json", settings)

    def _note_before(self, first: Ran, into: Path) -> None:
        if first.plan:
            self.texts.write(into / "explain.txt", first.plan)
        evidence.progress(first.reports, into, self.texts)
        evidence.checkpoint(self._ckpt("main"), into / "checkpoint", self.texts)

    def _ckpt(self, name: str) -> Path:
        return self.folder.parent / "checkpoints" / name

    def _out(self) -> Path:
        return self.folder.parent / "output"

    def _kept(self, name: str) -> Path:
        return self.folder.parent / "outputs" / name

    def _copy(self, name: str, to: str) -> None:
        for where in (self._ckpt, self._kept):
            _replace(where(name), where(to))

    def _logs(self, name: str) -> dict[str, set[str]]:
        logs = {log: (self._ckpt(name) / log).glob("[0-9]*") for log in ("offsets", "commits")}
        return {log: {file.name for file in files} for log, files in logs.items()}


# Spark waits ten seconds for a Python process to call back.
_OF_THE_MACHINE = ("java.net.SocketTimeoutException", "CANNOT_OPEN_SOCKET")
_BEGUN: dict[Any, Begun] = {}


def _beginning(case: Case) -> Any:
    """Return what two cases have in common whose old versions leave the same behind."""
    old = case.old
    settings = tuple(sorted(old.settings.items()))
    return id(old.build), old.mode, settings, id(case.first), id(case.earlier), bool(case.surgery)


def _replace(source: Path, into: Path) -> None:
    """Make `into` a copy of `source`, or nothing where there is none."""
    shutil.rmtree(into, ignore_errors=True)
    if source.exists():
        shutil.copytree(source, into)
