"""Fetch what tests ask: stores of files, a schema registry, PostgreSQL."""

from __future__ import annotations

import hashlib
import os
import shutil
import tarfile
from pathlib import Path

from headgate.gateway.process.ivy import why_not
from setting_up.jars import resolve
from setting_up.packages import pip
from setting_up.shell import BIN, CACHE, ROOT, run, say, stop

STORES = ROOT / "tests" / "stores"
REGISTRY_FILE = STORES / "registry.xml"
# A wheel that holds PostgreSQL's programs. Only they are taken, so that of one Python will do.
POSTGRES = "0.1.4"


def stores_folder() -> Path:
    """Return where the servers of these two files belong."""
    content = (STORES / "ivy.xml").read_bytes() + (STORES / "package.json").read_bytes()
    return CACHE / "stores" / hashlib.sha256(content).hexdigest()[:12]


def has_stores() -> bool:
    """Whether they are there; the folder gets its name only once it is complete."""
    return stores_folder().is_dir()


def fetch_stores() -> None:
    """Fetch an S3 server and HDFS by Ivy, Azure's emulator by npm where there is one."""
    say("fetching servers for the tests of remote file systems (100 MB)")
    partial = stores_folder().with_suffix(".partial")
    cache, log = CACHE / "ivy-stores", CACHE / "ivy-stores.log"
    if not resolve(partial, cache, log, STORES / "ivy.xml", ("s3", "hdfs")):
        stop(
            f"the test servers could not be fetched: {why_not(log)}. "
            f"Run `make setup` again; details are in {log}"
        )
    shutil.rmtree(cache, ignore_errors=True)
    npm = shutil.which("npm")
    azure = partial / "azure"
    azure.mkdir()
    shutil.copy(STORES / "package.json", azure)
    command = ("install", "--no-audit", "--no-fund", "--silent", "--prefix", azure)
    if npm is None or not run(npm, *command, log=CACHE / "npm.log"):
        say("there is no Azurite: its tests are skipped (it needs npm)")
        shutil.rmtree(azure)
    partial.rename(stores_folder())


def registry_folder() -> Path:
    """Return where the schema registry of this file belongs."""
    return CACHE / "registry" / hashlib.sha256(REGISTRY_FILE.read_bytes()).hexdigest()[:12]


def has_registry() -> bool:
    """Whether it is there; the folder gets its name only once it is complete."""
    return registry_folder().is_dir()


def fetch_registry() -> None:
    """Fetch Apicurio's registry by Ivy, and unpack it."""
    say("fetching the schema registry for the tests of schemas (110 MB)")
    partial = registry_folder().with_suffix(".partial")
    cache, log = CACHE / "ivy-registry", CACHE / "ivy-registry.log"
    # Its archive holds all that it needs, so none of its parents' descriptions is read.
    usual = STORES / "without-poms.xml"
    if not resolve(partial, cache, log, REGISTRY_FILE, ("registry",), usual):
        stop(
            f"the schema registry could not be fetched: {why_not(log)}. "
            f"Run `make setup` again; details are in {log}"
        )
    shutil.rmtree(cache, ignore_errors=True)
    (archive,) = (partial / "registry").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        # The first releases of 3.11 know no filters.
        if hasattr(tarfile, "data_filter"):
            packed.extractall(partial, filter="data")
        else:
            packed.extractall(partial)
    shutil.rmtree(partial / "registry")
    partial.rename(registry_folder())


def postgres_folder() -> Path:
    """Return where the unpacked programs belong (as the tests' `postgres_server` finds them)."""
    return CACHE / "postgres" / POSTGRES


def has_postgres() -> bool:
    """Whether they are installed, as on the PATH or as Debian does, or unpacked."""
    if os.environ.get("HEADGATE_POSTGRES") or shutil.which("initdb"):
        return True
    return any(Path("/usr/lib/postgresql").glob("*/bin/initdb")) or postgres_folder().is_dir()


def fetch_postgres() -> None:
    """Unpack the programs from a pinned wheel: that takes no rights, unlike a package."""
    say("fetching PostgreSQL for the tests of the store (11 MB)")
    partial = postgres_folder().with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    which = ("--python-version", "3.11", "--implementation", "cp", "--abi", "cp311")
    wanted = ("--only-binary=:all:", "--no-deps", *which, "--platform", wheel_platform())
    if not pip("download", "--quiet", *wanted, "--dest", str(partial), f"pgserver=={POSTGRES}"):
        stop(
            "PostgreSQL could not be fetched, for the reason above: install it (Debian, Ubuntu: "
            "sudo apt install postgresql), or set HEADGATE_POSTGRES to the folder of its programs"
        )
    (wheel,) = partial.glob("*.whl")
    if not run(BIN / "python", "-m", "zipfile", "-e", wheel, partial):
        stop(f"{wheel} could not be unpacked, for the reason above")
    wheel.unlink()
    # A zip file's reader of the standard library drops who may run a file.
    for program in partial.glob("pgserver/pginstall/bin/*"):
        program.chmod(0o755)
    partial.rename(postgres_folder())


def wheel_platform() -> str:
    """Return the tag of this machine's wheels."""
    machine, system = os.uname().machine, os.uname().sysname
    if system != "Darwin":
        return f"manylinux2014_{machine}"
    return "macosx_11_0_arm64" if machine == "arm64" else "macosx_10_9_x86_64"
