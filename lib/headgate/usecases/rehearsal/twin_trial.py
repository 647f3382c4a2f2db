"""One twin experiment: the old version on rows A, then the new version on B, in two ways."""

from __future__ import annotations

import json
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from headgate.errors import CaptureError
from headgate.gateway.spark.twin_version import TwinVersion
from headgate.model.sinks import FILE_FORMATS
from headgate.model.spark_settings import NO_DATA_BATCHES, PINNED_DEFAULTS, WATERMARK_POLICY
from headgate.model.twin import Equivalence, TwinVerdict
from headgate.twin.equivalence import equivalence
from headgate.twin.experiment import Experiment, Ran, Stores, count_words, stores
from headgate.twin.generate_rows import USUAL_ROWS, Feed, Row, RowMaker, SourceRows
from headgate.twin.judge import is_of_restart, judge
from headgate.twin.plan_hints import mine, takes_otherwise
from headgate.twin.row_hints import Hints
from headgate.twin.samples import Origins
from headgate.twin.volatile_functions import volatile

Say = Callable[[str], None]
# File sources read files in the order of their times.
_FIRST_FILE = 1_700_000_000


@dataclass(frozen=True, slots=True)
class TrialWish:
    """The rows of an experiment: `rows` for each streaming source, generated from `seed`.

    `is_wide`: with more keys and windows at once than usual (see `RowMaker`). `sample` returns
    sampled rows by the folder of their source (`folder`, `kind`, `location`, `schema`).
    """

    rows: int
    seed: int
    sample: Callable[[Sequence[Mapping[str, Any]]], Mapping[str, Sequence[Row]]] | None = None
    is_wide: bool = False


class Trial:
    """The runs of one experiment, in their order."""

    def __init__(
        self, versions: tuple[TwinVersion, TwinVersion], folder: Path, wish: TrialWish, say: Say
    ) -> None:
        """`folder` has both versions' evidence below `before` and `after`."""
        self.old, self.new = versions
        self.folder, self.wish, self.say = folder, wish, say
        self.written = 0
        self.reads_files = False
        self.hints = Hints()
        self.origins: Origins | None = None

    def verdict(self) -> TwinVerdict:
        """Run the experiment; BuildError if a version's function fails."""
        builds = self.old.build(), self.new.build()
        studies = [build() for build in builds]
        same = self._equivalence(studies)
        if same.is_same:
            return TwinVerdict(
                outcome="resumes",
                why=(
                    "both versions have the same optimized query plan, settings, sources and sink"
                ),
                equivalence=same,
                seed=self.wish.seed,
                spark_version=str(studies[1]["spark_version"]),
            )
        if (said := _reads_otherwise(*studies)) is not None:
            return TwinVerdict(
                outcome="unknown",
                why=said,
                question="Does the new version read exactly the rows that the old version reads?",
                is_thin=True,
                seed=self.wish.seed,
                spark_version=str(studies[1]["spark_version"]),
            )
        kinds = {s["kind"] for study in studies for s in study["sources"] if s["is_streaming"]}
        self.reads_files = kinds <= FILE_FORMATS
        for study in studies:
            mine(study, self.hints)
        feed = self._feed(studies)
        self.say("running both versions on the rows before the restart")
        run = replace(self._run(feed, studies), equivalence=same)
        if self.origins is not None:
            run = replace(run, sampled=frozenset(self.origins.sampled))
        rows = sum(len(r) for batch in (*feed.a, *feed.b) for r in batch.values())
        judged = judge(run)
        return replace(
            self.origins.masked(judged) if self.origins is not None else judged,
            seed=self.wish.seed,
            rows=rows,
            spark_version=str(studies[1]["spark_version"]),
            is_sampled=self.origins is not None,
        )

    def _equivalence(self, studies: Sequence[dict[str, Any]]) -> Equivalence:
        return equivalence(studies, self._recorded("capture.json"), self._recorded("conf.json"))

    def _recorded(self, name: str) -> list[dict[str, Any]]:
        """Return both versions' file of this name."""
        folders = (self.folder / version for version in ("before", "after"))
        return [json.loads((f / name).read_text(encoding="utf-8")) for f in folders]

    def _feed(self, studies: Sequence[dict[str, Any]]) -> Feed:
        sources = _sources(studies)
        if not any(s.is_streaming for s in sources):
            raise CaptureError("neither version reads a stream: pass functions that read a stream")
        twins = _paired(*studies)
        streams = sum(s.is_streaming and s.folder not in twins for s in sources)
        wish = self.wish
        scale = wish.rows / USUAL_ROWS
        samples = self._samples(studies[0]) if wish.sample else {}
        maker = RowMaker(self.hints, wish.seed, scale, samples, is_wide=wish.is_wide)
        feed = maker.feed([s for s in sources if s.folder not in twins])
        if wish.sample:
            self.origins = maker.origins
        self.say(f"generating {wish.rows * streams} rows (seed {wish.seed})")
        for batch in (*feed.a, *feed.b, feed.tables):
            batch |= {twin: batch[own] for twin, own in twins.items() if own in batch}
        self._write([feed.tables], "table")
        return feed

    def _samples(self, study: dict[str, Any]) -> Mapping[str, Sequence[Row]]:
        """Return sampled rows of the old version's streams."""
        schemas = {leaf["folder"]: leaf["schema"] for leaf in study["leaves"]}
        streams = [s for s in study["sources"] if s["is_streaming"] and s["folder"] in schemas]
        self.say("reading the sample")
        assert self.wish.sample is not None
        return self.wish.sample([s | {"schema": schemas[s["folder"]]} for s in streams])

    def _run(self, feed: Feed, studies: Sequence[dict[str, Any]]) -> Experiment:
        old, new = self.old, self.new
        self._write(feed.a, "a")
        # The old checkpoint pins these for the new version, so the control has them, too.
        recorded = self._recorded("conf.json")[0]
        for key in _PINNED_IN_CONTROL:
            new.settings[key] = recorded.get(key) or PINNED_DEFAULTS[key]
        if self.wish.is_wide:
            self._keep_windows(True)
        ways = ((old, "before"), (new, "own"))
        asked = [who.run(self._ck(name), self._out(), counts=True) for who, name in ways]
        before_a, after_a = (Ran.of(one()) for one in asked)
        if self.wish.is_wide:
            self._keep_windows(False)
        inside, left_out = volatile(studies)
        added, removed = _other_sources(*studies)
        run = Experiment(
            modes=(studies[0]["output_mode"], studies[1]["output_mode"]),
            before_a=before_a,
            after_a=after_a,
            resumed=Ran(),
            words=count_words(feed.a),
            inside=inside,
            left_out=left_out,
            added_sources=added,
            removed_sources=removed,
            takes_otherwise=not self.wish.sample and takes_otherwise(studies),
        )
        if before_a.error or before_a.late:
            return run
        shutil.copytree(self._ck("before"), self._ck("resumed"))
        if not after_a.error:
            shutil.copytree(self._ck("own"), self._ck("later"))
        self._write(feed.b, "b")
        self.say("restarting the new version on the old version's checkpoint")
        resumed = new.run(self._ck("resumed"), self._out())
        state_before = old.state(self._ck("before"))
        run = replace(run, resumed=Ran.of(resumed()), state_before=stores(state_before()))
        error = run.resumed.error
        if error and not (after_a.error or after_a.late or is_of_restart(error)):
            # Rows of B alone may be what the new version can't process.
            return replace(run, own=Ran.of(new.run(self._ck("later"), self._out())()))
        if error or run.resumed.late or after_a.error or after_a.late:
            return run
        return self._control(run)

    def _keep_windows(self, is_kept: bool) -> None:
        """Let the windows of the last rows stay in state, or be evicted at once as in production.

        A batch without rows would evict all but those that the last watermark leaves open: one or
        two, with a key or two each.
        """
        sides = zip((self.old, self.new), self._recorded("conf.json"), strict=True)
        for version, recorded in sides:
            usual = recorded.get(NO_DATA_BATCHES, "true")
            version.settings[NO_DATA_BATCHES] = "false" if is_kept else usual

    def _control(self, run: Experiment) -> Experiment:
        """Add the new version's own way over A and B."""
        old, new = self.old, self.new
        own, state = new.run(self._ck("later"), self._out()), old.state(self._ck("own"))
        run = replace(run, own=Ran.of(own()), state_after=stores(state()))
        same = run.state_before == run.state_after
        if same and sorted(run.own.rows) == sorted(run.resumed.rows):
            return run
        if same:
            shutil.copytree(self._ck("own"), self._ck("again"))
            return replace(run, again=Ran.of(new.run(self._ck("again"), self._out())()))
        resumed, later = new.state(self._ck("resumed")), old.state(self._ck("later"))
        run = replace(run, state_resumed=stores(resumed()), state_own=stores(later()))
        return replace(run, history=self._history(run))

    def _history(self, run: Experiment) -> dict[Any, frozenset[Any]]:
        """Return the keys that the old version's stores had after any batch but the last."""
        wanted = [
            s for s, found in run.state_before.items()
            if (run.state_after[s].rows.keys() if s in run.state_after else set())
            - found.rows.keys()
        ]  # fmt: skip
        if not wanted:
            return {}
        numbers = sorted(
            int(p.name) for p in (self._ck("before") / "commits").iterdir() if p.name.isdecimal()
        )
        seen: dict[Any, set[Any]] = {}
        for number in numbers[:-1]:
            found: Stores = stores(self.old.state(self._ck("before"), number)())
            for store, values in found.items():
                seen.setdefault(store, set()).update(values.rows)
        return {store: frozenset(keys) for store, keys in seen.items()}

    def _ck(self, name: str) -> Path:
        return self.folder / f"checkpoint-{name}"

    def _out(self) -> Path:
        self.written += 1
        return self.folder / f"output-{self.written}"

    def _write(self, batches: Sequence[Mapping[str, Sequence[Row]]], name: str) -> None:
        """Write a file a batch; their times say their order."""
        for number, batch in enumerate(batches):
            self.written += 1
            for folder, rows in batch.items():
                path = self.folder / "rows" / folder / f"{name}{number}.json"
                draft = path.with_name(f".{path.name}")
                draft.write_text("".join(f"{json.dumps(r)}\n" for r in rows), encoding="utf-8")
                at = _FIRST_FILE + self.written
                os.utime(draft, (at, at))
                draft.replace(path)


def _streams(study: dict[str, Any]) -> list[dict[str, Any]]:
    return [s for s in study["sources"] if s["is_streaming"]]


def _other_sources(old: dict[str, Any], new: dict[str, Any]) -> tuple[int, int]:
    """Count the streams that only the new and only the old version reads, but those that moved."""
    moved = _paired(old, new)
    ours, theirs = ({s["folder"] for s in _streams(study)} for study in (old, new))
    return len(theirs - ours - moved.keys()), len(ours - theirs - set(moved.values()))


def _sources(studies: Sequence[dict[str, Any]]) -> list[SourceRows]:
    """Return every source of both versions once, with the columns of both."""
    found: dict[str, SourceRows] = {}
    for study in studies:
        streams = {s["folder"]: s["is_named"] for s in study["sources"] if s["is_streaming"]}
        for leaf in study["leaves"]:
            name, fields = leaf["folder"], leaf["schema"]["fields"]
            known = found.get(name)
            old = list(known.schema["fields"]) if known else []
            names = {f["name"] for f in old}
            merged = [*old, *(f for f in fields if f["name"] not in names)]
            found[name] = SourceRows(
                name, {"fields": merged}, name in streams, streams.get(name, False)
            )
    return list(found.values())


# What decides how a state is stored, and when it is evicted.
_PINNED_IN_CONTROL = (
    WATERMARK_POLICY,
    *(key for key in PINNED_DEFAULTS if key.endswith(".stateFormatVersion")),
)
_GLOB = re.compile(r"[*?{\[]")


def _reads_otherwise(old: dict[str, Any], new: dict[str, Any]) -> str | None:
    """Say which files the new version reads in a way that generated ones can't show."""
    known = {s["location"]: s["kind"] for s in old["sources"] if s["is_streaming"]}
    for source in new["sources"]:
        where, kind = source["location"], source["kind"]
        if not source["is_streaming"] or kind not in FILE_FORMATS:
            continue
        if known.get(where, kind) != kind:
            return f"the new version reads {where} as {kind}, the old version as {known[where]}"
        if where not in known and any(_GLOB.search(str(w)) for w in (where, *known)):
            return (
                f"the new version reads files at {where}, which can include files that the old "
                "version reads"
            )
    return None


def _paired(old: dict[str, Any], new: dict[str, Any]) -> dict[str, str]:
    """Return, for each source that only the new version reads, the old one that it replaces.

    Spark finds the offsets of a source with a name by the name: another name has none.
    """

    def streams(study: dict[str, Any]) -> list[str]:
        return [s["folder"] for s in _streams(study) if not s["is_named"]]

    ours, theirs = streams(old), streams(new)
    gone = [s for s in ours if s not in theirs]
    added = [s for s in theirs if s not in ours]
    return dict(zip(added, gone, strict=False)) if len(gone) == len(added) else {}
