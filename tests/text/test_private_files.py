"""What Headgate keeps is readable by its owner only, whatever the umask says."""

from __future__ import annotations

import os
import stat
from contextlib import closing
from pathlib import Path

import pytest

from headgate.gateway.process.shell_commands import run_command
from headgate.store import open_store
from headgate.store.worker_slots import Slot
from headgate.text.private_files import open_private, private_folder


def mode(path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def loose_umask():
    before = os.umask(0o022)
    yield
    os.umask(before)


def others_read(folder) -> list[str]:
    return [str(p) for p in folder.rglob("*") if p.is_file() and mode(p) & 0o077]


def test_home_store_journals_and_locks_are_the_owners(tmp_path):
    home = tmp_path / ".headgate"
    with closing(open_store(f"sqlite:///{home / 'headgate.db'}")) as store:
        store.audit.add(by="ann", action="look")
        slot = Slot(store.database)
        assert slot.take()
        assert {p.name for p in home.iterdir()} >= {"headgate.db", "headgate.db-wal"}
        assert others_read(home) == []
        slot.release()
    assert mode(home) == 0o700


def test_a_second_opening_drops_no_lock_of_the_first(tmp_path):
    """A file that is opened and closed again loses the locks that SQLite has on it."""
    url = f"sqlite:///{tmp_path / '.headgate' / 'headgate.db'}"
    with closing(open_store(url)) as store, store.database.writing() as connection:
        connection.exec_driver_sql("SELECT 1")
        before = _own_locks(tmp_path)
        assert before
        with closing(open_store(url)):
            pass
        assert _own_locks(tmp_path) == before


def _own_locks(folder: Path) -> list[list[str]]:
    """Return this process's locks on a folder's files: other stores may be closed meanwhile."""
    files = {str(path.stat().st_ino) for path in folder.rglob("*") if path.is_file()}
    rows = [row.split()[1:] for row in Path("/proc/locks").read_text().splitlines()]
    return sorted(
        row
        for row in rows
        if row[0] == "POSIX" and str(os.getpid()) in row and row[4].split(":")[-1] in files
    )


def test_an_older_home_is_closed_and_a_foreign_folder_is_not(tmp_path):
    home, shared = tmp_path / ".headgate", tmp_path / "shared"
    for folder in (home, shared):
        folder.mkdir(mode=0o755)
        (folder / "headgate.db").touch(0o644)
        with closing(open_store(f"sqlite:///{folder / 'headgate.db'}")):
            pass
        assert mode(folder / "headgate.db") == 0o600
    assert (mode(home), mode(shared)) == (0o700, 0o755)


def test_a_commands_log_is_the_owners_and_the_command_keeps_the_umask(tmp_path):
    log = tmp_path / ".headgate" / "logs" / "run-1-start.log"
    os.umask(0o027)
    command = "umask; touch made"
    ended = run_command(command, folder=tmp_path, log=log, seconds=20)
    assert ended.output.split()[-1] == "0027"
    assert mode(tmp_path / "made") == 0o640
    assert mode(log) == 0o600
    assert mode(log.parent) == mode(tmp_path / ".headgate") == 0o700


def test_a_file_that_was_open_to_all_is_closed_and_no_device_is_touched(tmp_path):
    file = tmp_path / "plan.json"
    file.write_text("{}")
    file.chmod(0o644)
    with open_private(file, "w") as opened:
        opened.write("{}")
    assert mode(file) == 0o600
    with open_private(tmp_path.__class__("/dev/null"), "w"):
        pass
    assert mode(tmp_path.__class__("/dev/null")) & 0o077
    private_folder(tmp_path / "a" / "b")
    assert mode(tmp_path / "a") == mode(tmp_path / "a" / "b") == 0o700
