"""Bring Python packages, jars and a browser into this clone; whatever is complete is left alone.

`setup.py STAGE...`, with the stages

    python    .venv with the pinned packages of requirements-dev.txt, the package itself editable
    jars      .cache/jars/<hash of ivy.xml>, resolved by the Ivy that PySpark ships
    stores    .cache/stores/<hash>: servers that the tests of remote file systems read from, and
              .cache/registry/<hash>: the schema registry that the tests of schemas ask
    postgres  .cache/postgres/<version>, where PostgreSQL is not installed: the tests of the store
    browser   a Chromium for the tests of the pages

Invariant: the stamp of a stage is written last and names what it was made from, so a set-up that
was cut off at any moment is completed by the next one. Only the standard library is used.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tarfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
VENV = ROOT / ".venv"
BIN = VENV / "bin"
IVY_FILE = ROOT / "lib" / "headgate" / "gateway" / "ivy.xml"
STORES = ROOT / "tests" / "stores"
REGISTRY_FILE = STORES / "registry.xml"
REQUIREMENTS = ROOT / "requirements-dev.txt"
# A wheel that holds PostgreSQL's programs. Only they are taken, so that of one Python will do.
POSTGRES = "0.1.4"
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
# How pip's settings are called in uv's world.
UV_NAMES = {
    "index-url": "UV_DEFAULT_INDEX",
    "extra-index-url": "UV_INDEX",
    "find-links": "UV_FIND_LINKS",
    "trusted-host": "UV_INSECURE_HOST",
    "cert": "SSL_CERT_FILE",
}


def main(stages: list[str]) -> None:
    """Complete the stages in their order; exits with one sentence where that is impossible."""
    check_java()
    known: dict[str, tuple[Callable[[], bool], Callable[[], object]]] = {
        "python": (has_packages, install_packages),
        "jars": (has_jars, fetch_jars),
        "stores": (
            lambda: has_stores() and has_registry(),
            lambda: (has_stores() or fetch_stores(), has_registry() or fetch_registry()),
        ),
        "postgres": (has_postgres, fetch_postgres),
        "browser": (has_browser, install_browser),
    }
    for stage in stages:
        is_done, do = known[stage]
        if is_done():
            continue
        with only_one():
            if not is_done():
                do()


def say(text: str) -> None:
    """Tell on stderr what happens."""
    print(f"set-up: {text}", file=sys.stderr, flush=True)


def stop(text: str) -> None:
    """End the set-up with one sentence."""
    sys.exit(f"set-up: {text}")


@contextmanager
def only_one() -> Iterator[None]:
    """Wait until no other set-up works in this clone; the lock goes with the process."""
    CACHE.mkdir(exist_ok=True)
    with (CACHE / "setup.lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say("another set-up works in this folder; waiting for it")
            fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def run(*command: object, env: Mapping[str, str] | None = None, log: Path | None = None) -> bool:
    """Run a command, its output to stderr or to `log`; return whether it succeeded."""
    argv = [str(word) for word in command]
    try:
        if log is None:
            return subprocess.run(argv, stdout=sys.stderr, env=env, cwd=ROOT).returncode == 0
        with log.open("wb") as file:
            done = subprocess.run(argv, stdout=file, stderr=file, env=env, cwd=ROOT)
        return done.returncode == 0
    except FileNotFoundError:
        return False


# --- Java ------------------------------------------------------------------------------------


def check_java() -> None:
    """Stop unless Java 17 or newer runs; JAVA_HOME goes before PATH, as it does for Spark."""
    java = find_java()
    install = "install Java 17 or newer (Debian, Ubuntu: sudo apt install openjdk-17-jre-headless)"
    if java is None:
        stop(f"there is no Java on the PATH: {install}, or set JAVA_HOME")
    major = java_major(java or "")
    if major < 17:
        found = f"is version {major}" if major else "does not run"
        stop(f"{java} {found}: {install}, or set JAVA_HOME to one")


def find_java() -> str | None:
    """Return JAVA_HOME's Java, else the one on the PATH."""
    home = os.environ.get("JAVA_HOME")
    return (shutil.which("java", path=f"{home}/bin") if home else None) or shutil.which("java")


def java_major(java: str) -> int:
    """Return the major version, 8 for `1.8.0`, 0 where it does not run."""
    try:
        done = subprocess.run([java, "-version"], capture_output=True, text=True)
    except OSError:
        return 0
    match = re.search(r'version "(?:1\.)?(\d+)', done.stderr + done.stdout)
    return int(match[1]) if match and done.returncode == 0 else 0


# --- Python packages -------------------------------------------------------------------------


def packages_stamp() -> Path:
    """Return the file that says what .venv was completed from."""
    return VENV / ".headgate-complete"


def begun_mark() -> Path:
    """Return the file that says that this set-up is filling .venv."""
    return VENV / ".headgate-begun"


def packages_key() -> list[str]:
    """Return the interpreter and place that .venv was made with, and the hash of its pins."""
    digest = hashlib.sha256()
    for name in ("requirements.txt", "requirements-dev.txt", "pyproject.toml"):
        digest.update((ROOT / name).read_bytes())
    place = f"{ROOT} {sysconfig.get_platform()} {sys.version.split()[0]}"
    return [place, digest.hexdigest()]


def has_packages() -> bool:
    """Whether .venv is complete for these requirements."""
    return read_lines(packages_stamp()) == packages_key() and os.access(BIN / "headgate", os.X_OK)


def install_packages() -> None:
    """Make .venv complete; one that was cut off or was made by another Python is made anew."""
    was, key = read_lines(packages_stamp()), packages_key()
    if begun_mark().exists() or (was and was[0] != key[0]):
        discard(VENV)
    VENV.mkdir(exist_ok=True)
    begun_mark().touch()
    packages_stamp().unlink(missing_ok=True)
    make_venv()
    say("installing the Python packages into .venv (the first time takes a minute)")
    if not (install_with_uv() or install_with_pip()):
        stop("the Python packages could not be installed, for the reason above; run it again")
    compile_packages()
    write(packages_stamp(), "\n".join(key) + "\n")
    begun_mark().unlink()


def compile_packages() -> None:
    """Write all bytecode at once: where Python may write none, each process would compile anew."""
    packages = VENV.glob("lib/*/site-packages")
    run(
        BIN / "python",
        *("-m", "compileall", "-q", "-j", "0"),
        ROOT / "lib",
        *packages,
        log=CACHE / "pyc.log",
    )


def make_venv() -> None:
    """Create the interpreter of .venv, by uv where it is on the PATH, else by venv."""
    if (BIN / "python").exists():
        return
    say("making .venv")
    if uv := shutil.which("uv"):
        marks = begun_mark()
        if run(uv, "venv", "--quiet", "--allow-existing", "--python", sys.executable, VENV):
            marks.touch()
            return
    if not run(sys.executable, "-m", "venv", VENV):
        version = ".".join(map(str, sys.version_info[:2]))
        stop(
            "this Python can make no virtual environment: install its venv module "
            f"(Debian, Ubuntu: sudo apt install python{version}-venv)"
        )


def install_with_uv() -> bool:
    """Install with uv: the one on the PATH, else the pinned one, which pip brings."""
    uv = shutil.which("uv")
    if uv is None:
        pin = re.search(r"^uv==\S+", REQUIREMENTS.read_text(), re.M)
        if not (pin and pip("install", "--quiet", pin[0])):
            return False
        uv = str(BIN / "uv")
    env = {**uv_settings(), **os.environ}
    return run(
        uv, "pip", "install", "--quiet", "--python", BIN / "python", "-r", REQUIREMENTS, env=env
    )


def install_with_pip() -> bool:
    """Install with pip, which takes longer."""
    say("uv did not do; installing with pip")
    return pip("install", "--quiet", "-r", str(REQUIREMENTS))


def pip(*arguments: str) -> bool:
    """Run the pip of .venv."""
    python = BIN / "python"
    if not run(python, "-c", "import pip", log=CACHE / "pip.log"):
        run(python, "-m", "ensurepip", "--upgrade", log=CACHE / "pip.log")
    return run(python, "-m", "pip", "--disable-pip-version-check", *arguments)


def uv_settings() -> dict[str, str]:
    """Return what pip was told (an own index, a certificate) in uv's words; uv reads none of it."""
    argv = [str(BIN / "python"), "-m", "pip", "config", "list"]
    done = subprocess.run(argv, capture_output=True, text=True)
    found: dict[str, str] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition("=")
        if name := UV_NAMES.get(key.rpartition(".")[2].replace("_", "-")):
            found[name] = " ".join(shlex.split(value))
    return found


# --- Jars ------------------------------------------------------------------------------------


def jars_folder() -> Path:
    """Return where the jars of this `ivy.xml` belong (as `headgate.gateway.jars` finds them)."""
    return CACHE / "jars" / hashlib.sha256(IVY_FILE.read_bytes()).hexdigest()[:12]


def has_jars() -> bool:
    """Whether they are there; the folder gets its name only once it is complete."""
    return "HEADGATE_JARS" in os.environ or jars_folder().is_dir()


def fetch_jars() -> None:
    """Resolve `ivy.xml` into a folder of another name, and rename that one."""
    say("fetching the jars of Spark's Kafka connector and of the broker (150 MB)")
    partial = jars_folder().with_suffix(".partial")
    cache, log = CACHE / "ivy", CACHE / "ivy.log"
    if not resolve(partial, cache, log):
        # What a cut-off download left in Ivy's cache may be what is wrong.
        shutil.rmtree(cache, ignore_errors=True)
        if not resolve(partial, cache, log):
            stop(f"the jars could not be fetched: {why_not(log)}; the whole story is in {log}")
    partial.rename(jars_folder())
    shutil.rmtree(cache, ignore_errors=True)


def resolve(
    partial: Path,
    cache: Path,
    log: Path,
    ivy_file: Path = IVY_FILE,
    parts: tuple[str, ...] = ("spark", "broker", "streams"),
    usual: Path | None = None,
) -> bool:
    """Let Ivy fill `partial`; HEADGATE_IVY_SETTINGS may name a settings file with a mirror.

    `usual` is the settings file where that names none.
    """
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    ivy = next(VENV.glob("lib/python*/site-packages/pyspark/jars/ivy-*.jar"))
    settings = os.environ.get("HEADGATE_IVY_SETTINGS") or usual
    more = ["-settings", settings] if settings else []
    into = f"{partial}/[conf]/[artifact]-[revision].[ext]"
    done = run(
        find_java(),
        "-jar",
        ivy,
        *more,
        "-cache",
        cache,
        "-ivy",
        ivy_file,
        "-retrieve",
        into,
        log=log,
    )
    return done and all(any((partial / c).glob("*.*")) for c in parts)


def why_not(log: Path) -> str:
    """Return Ivy's first complaint."""
    found = re.search(
        r"(UNRESOLVED DEPENDENCY: .*|.*[Ee]xception.*|.*not found.*)", log.read_text()
    )
    return found[1].strip(" \t:") if found else "Ivy gave no reason"


# --- Servers of the tests --------------------------------------------------------------------


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
        stop(f"the test servers could not be fetched: {why_not(log)}; the whole story is in {log}")
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
        stop(f"the schema registry could not be fetched: {why_not(log)}; more is in {log}")
    shutil.rmtree(cache, ignore_errors=True)
    (archive,) = (partial / "registry").glob("*.tar.gz")
    with tarfile.open(archive) as packed:
        # The first releases of 3.11 know no filters.
        packed.extractall(
            partial, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {})
        )
    shutil.rmtree(partial / "registry")
    partial.rename(registry_folder())


# --- PostgreSQL ------------------------------------------------------------------------------


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
    machine = os.uname().machine
    if sys.platform != "darwin":
        return f"manylinux2014_{machine}"
    return "macosx_11_0_arm64" if machine == "arm64" else "macosx_10_9_x86_64"


# --- Browser ---------------------------------------------------------------------------------


def has_browser() -> bool:
    """Whether HEADGATE_CHROMIUM or the PATH names a Chromium."""
    given = os.environ.get("HEADGATE_CHROMIUM")
    if given and not os.access(given, os.X_OK):
        stop(f"HEADGATE_CHROMIUM names {given}, which is no program")
    return bool(given) or any(map(shutil.which, BROWSERS))


def install_browser() -> None:
    """Install Debian's Chromium where this user may; else say what to do."""
    apt, env = shutil.which("apt-get"), {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    if apt and os.geteuid() == 0:
        say("installing Chromium for the tests of the pages")
        run(apt, "update", env=env, log=CACHE / "apt.log")
        more = ("install", "--yes", "--no-install-recommends", "chromium")
        if run(apt, *more, env=env, log=CACHE / "apt.log") and has_browser():
            return
    stop(
        "the tests of the pages need a Chromium: install one "
        "(Debian: sudo apt install chromium), or set HEADGATE_CHROMIUM to a browser"
    )


# --- Files -----------------------------------------------------------------------------------


def read_lines(path: Path) -> list[str]:
    """Return the lines of a file, [] where there is none."""
    try:
        return path.read_text().splitlines()
    except OSError:
        return []


def write(path: Path, text: str) -> None:
    """Write a file whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    partial.write_text(text)
    partial.rename(path)


def discard(folder: Path) -> None:
    """Remove a folder so that, cut off, no half of it stays under its name."""
    away = CACHE / "discarded"
    shutil.rmtree(away, ignore_errors=True)
    folder.rename(away)
    shutil.rmtree(away, ignore_errors=True)


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        stop("interrupted; the next one goes on from here")
