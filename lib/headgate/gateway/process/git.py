"""Ask git what differs between a revision and the working tree, and check a revision out."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from headgate.errors import NotFoundError, SetupError

_TIMEOUT_S = 300.0
# A hook has them for its own commit; they would redirect every other call.
_OF_HOOKS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_PREFIX", "GIT_COMMON_DIR")
# The modes of entries that are no files.
_LINK, _SUBMODULE = b"120000 ", b"160000 "
_SHALLOW = "in GitHub Actions set `fetch-depth: 0` of actions/checkout, elsewhere run `git fetch`"


@dataclass(frozen=True, slots=True)
class Repository:
    """A clone with a working tree at `root`; paths are relative to it, with slashes."""

    root: Path

    def commit(self, revision: str) -> str:
        """Return the full id of a revision's commit; NotFoundError if this clone doesn't have it.

        Never a default: a comparison with another commit would be another answer.
        """
        asked = ("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        found = _git(self.root, *asked)
        if found.returncode:
            raise NotFoundError(
                f"{revision!r} isn't a commit of this clone: check the name, or fetch the "
                f"commit ({_SHALLOW})"
            )
        return found.stdout.decode().strip()

    def common_ancestor(self, commit: str) -> str | None:
        """Return the newest commit that HEAD and `commit` share, None if this clone has none."""
        found = _git(self.root, "merge-base", commit, "HEAD")
        return None if found.returncode else found.stdout.decode().strip()

    def is_shallow(self) -> bool:
        """Say whether commits of the history were left out when it was cloned."""
        return self._asked("rev-parse", "--is-shallow-repository").strip() == b"true"

    def changed(
        self, commit: str, until: str | None = None, patterns: Sequence[str] = ()
    ) -> frozenset[str]:
        """Return the paths that differ between a commit and the working tree, or `until`.

        New files count, files that git ignores don't. `patterns` are globs that limit the paths.
        """
        limits = ("--", *(f":(top,glob){p}" for p in patterns))
        how = ("--name-only", "-z", "--no-renames", "--no-ext-diff", "--ignore-submodules=none")
        told = self._asked("diff", *how, commit, *([until] if until else []), *limits)
        if until is None:
            told += self._asked("ls-files", "--others", "--exclude-standard", "-z", *limits)
        return _paths(told)

    def files(self, commit: str | None = None) -> frozenset[str]:
        """Return the paths of a commit, or of the working tree without what git ignores."""
        if commit is not None:
            return _paths(self._asked("ls-tree", "-r", "--name-only", "-z", "--full-tree", commit))
        return _paths(self._asked("ls-files", "--cached", "--others", "--exclude-standard", "-z"))

    def links(self) -> frozenset[str]:
        """Return the symbolic links of the working tree, without those that git ignores."""
        new = _paths(self._asked("ls-files", "--others", "--exclude-standard", "-z"))
        return self._of_mode(_LINK) | {p for p in new if (self.root / p).is_symlink()}

    def submodules(self) -> frozenset[str]:
        """Return the paths of the submodules of the working tree."""
        return self._of_mode(_SUBMODULE)

    def _of_mode(self, mode: bytes) -> frozenset[str]:
        listed = self._asked("ls-files", "--stage", "-z").split(b"\0")
        return _paths(b"\0".join(e.partition(b"\t")[2] for e in listed if e.startswith(mode)))

    def read(self, commit: str, path: str) -> bytes | None:
        """Return a file as a commit has it, None if it doesn't."""
        found = _git(self.root, "cat-file", "blob", f"{commit}:{path}")
        return None if found.returncode else found.stdout

    def uncommitted(self) -> frozenset[str]:
        """Return the paths that differ from HEAD; files that git ignores don't count."""
        return self.changed("HEAD")

    @contextmanager
    def checked_out(self, commit: str, folder: Path) -> Iterator[Path]:
        """Check a commit out into a folder that doesn't exist; it is removed at the end.

        `folder` is in a scratch folder. What a killed process left of another one's is forgotten:
        git would list it for months. Other worktrees stay, also those whose folder isn't there now.
        """
        self._forget_left(folder)
        self._asked("worktree", "add", "--quiet", "--detach", str(folder), commit)
        try:
            yield folder
        finally:
            _git(self.root, "worktree", "remove", "--force", str(folder))

    def fill_submodules(self, commit: str, folder: Path) -> tuple[str, ...]:
        """Check out the submodules of a commit in `folder`, which has its files; no network.

        They come from the clones of this working tree. Returns a sentence for each that misses.
        """
        missing: list[str] = []
        for entry in self._asked("ls-tree", "-r", "-z", "--full-tree", commit).split(b"\0"):
            if entry.startswith(_SUBMODULE):
                told, _, name = entry.partition(b"\t")
                path, wanted = os.fsdecode(name), told.split()[2].decode()
                missing += self._fill_one(path, wanted, folder / path)
        return tuple(missing)

    def _fill_one(self, path: str, commit: str, folder: Path) -> Iterator[str]:
        own = Repository(self.root / path)
        if not (own.root / ".git").exists():
            step = f"run `git submodule update --init {path}`"
            yield f"the submodule {path} isn't checked out: {step}"
            return
        if _git(own.root, "cat-file", "-e", f"{commit}^{{commit}}").returncode:
            yield (
                f"the clone of the submodule {path} doesn't have the base's commit {commit[:10]}: "
                f"run `git -C {path} fetch origin {commit}`"
            )
            return
        # Objects are shared, and nothing is written into the submodule's own clone.
        made = _git(own.root, "clone", "-q", "--shared", "--no-checkout", ".", str(folder))
        if not made.returncode:
            made = _git(folder, "checkout", "-q", "--detach", commit)
        if made.returncode:
            yield (
                f"the submodule {path} can't be checked out ({_why(made.stderr)}): run `git -C "
                f"{path} fetch --unshallow`"
            )
            return
        yield from own.fill_submodules(commit, folder)

    def _forget_left(self, folder: Path) -> None:
        scratch = re.sub(r"[^-]*$", "", folder.parent.name)
        for entry in self._asked("worktree", "list", "--porcelain", "-z").split(b"\0"):
            path = Path(os.fsdecode(entry.removeprefix(b"worktree ")))
            is_ours = entry.startswith(b"worktree ") and path.name == folder.name
            if is_ours and path.parent.name.startswith(scratch or "/") and not path.exists():
                _git(self.root, "worktree", "remove", "--force", str(path))

    def _asked(self, *arguments: str) -> bytes:
        found = _git(self.root, *arguments)
        if found.returncode:
            raise SetupError(
                f"`git {arguments[0]}` failed: {_why(found.stderr)}. Check the repository with "
                "`git status`"
            )
        return found.stdout


def repository_of(folder: Path) -> Repository:
    """Return the clone that a folder is in; SetupError if git is missing or there is none."""
    found = _git(folder, "rev-parse", "--show-toplevel")
    if found.returncode:
        raise SetupError(
            f"{folder} isn't in a working tree of git: {_why(found.stderr)}. Run the command "
            "in a clone of your repository"
        )
    return Repository(Path(os.fsdecode(found.stdout).rstrip("\n")))


def _git(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    # Hooks are the repository's own code, and nobody asked for it.
    command = ("git", "-c", "core.hooksPath=/dev/null", "-c", "core.quotePath=off", *arguments)
    env = {k: v for k, v in os.environ.items() if k not in _OF_HOOKS}
    env |= {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    try:
        return subprocess.run(
            command,
            cwd=folder,
            env=env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=_TIMEOUT_S,
        )
    except FileNotFoundError as error:
        raise SetupError("git isn't installed, or isn't on the PATH: install git") from error
    except subprocess.TimeoutExpired as error:
        raise SetupError(
            f"`git {arguments[0]}` did not end within {_TIMEOUT_S:g} s. Check this machine's "
            "load and the disk, then try again"
        ) from error


def _paths(told: bytes) -> frozenset[str]:
    return frozenset(os.fsdecode(path) for path in told.split(b"\0") if path)


def _why(told: bytes) -> str:
    """Return git's own reason: the line that it begins with `fatal:`, else its last one."""
    lines = told.decode(errors="replace").strip().splitlines()
    fatal = [line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")]
    return (fatal or lines or ["no message"])[-1].rstrip(".")
