"""Servers that a checkpoint is read from: S3Proxy, HDFS, Azure's and Google's emulators."""

from __future__ import annotations

import hmac
import socket
import subprocess
import sys
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from functools import partial
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from support.fetched import fetched
from support.ports import free_port
from support.waiting import PATIENCE, until

ROOT = Path(__file__).parents[3]
CHECKPOINT = ROOT / "tests/golden/checkpoints/rocksdb/checkpoint"
# The key that Azurite's documentation gives to everybody.
AZURITE = "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
JVM = ("-Xmx192m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")


@dataclass
class Store:
    """A running server: the address of a checkpoint in it, and the settings to read it with.

    `more["put"](key, data)` puts an object into the bucket of the S3 server.
    """

    address: str
    settings: dict[str, dict[str, str]]
    port: int
    more: dict[str, Any] = field(default_factory=dict)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Those of all folders; comparing paths would take a second.
    home = f"{Path(__file__).parent}/"
    for item in items:
        if str(item.path).startswith(home):
            item.add_marker(pytest.mark.remote)


@pytest.fixture(scope="session")
def stores_folder() -> Path:
    """Where the set-up put the servers; without them nothing here can be shown."""
    return fetched("stores")


@pytest.fixture(scope="session")
def s3(stores_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """S3Proxy over a folder, with what it was given by its own protocol."""
    base = tmp_path_factory.mktemp("s3")
    (base / "bucket").mkdir()
    port = free_port()
    properties = base / "s3proxy.properties"
    properties.write_text(
        f"s3proxy.endpoint=http://127.0.0.1:{port}\n"
        "s3proxy.authorization=aws-v2-or-v4\ns3proxy.identity=someone\ns3proxy.credential=secret\n"
        "jclouds.provider=filesystem-nio2\njclouds.identity=x\njclouds.credential=x\n"
        # A header of newer clients that it does not know.
        "s3proxy.ignore-unknown-headers=true\n"
        f"jclouds.filesystem.basedir={base}\n"
    )
    quiet = base / "logback.xml"
    quiet.write_text('<configuration><root level="OFF"/></configuration>')
    command = ["java", *JVM, f"-Dlogback.configurationFile={quiet}"]
    command += ["-cp", f"{stores_folder}/s3/*"]
    command += ["org.gaul.s3proxy.Main", "--properties", str(properties)]
    settings = {
        "endpoint": f"http://127.0.0.1:{port}",
        "region": "us-east-1",
        "access_key": "someone",
        "secret_key": "secret",
    }
    with running(command, port, base / "log"):
        put = partial(_put, port)
        put("plan.txt", b"== Physical Plan ==\nFileScan json [k#1]\n")
        _put_folder(put, CHECKPOINT, "team a/ck")
        _put_folder(put, CHECKPOINT.parents[1] / "files_to_files/output", "out")
        yield Store("s3a://bucket/team a/ck", {"s3": settings}, port, {"put": put})


def _put_folder(put: Callable[[str, bytes], None], folder: Path, key: str) -> None:
    for file in (p for p in folder.rglob("*") if p.is_file()):
        put(f"{key}/{file.relative_to(folder)}", file.read_bytes())


def _put(port: int, key: str, data: bytes) -> None:
    """Put an object into the bucket, signed as AWS's version 2 wants it."""
    path, date = f"/bucket/{quote(key)}", formatdate(usegmt=True)
    secret = hmac.digest(b"secret", f"PUT\n\n\n{date}\n{path}".encode(), "sha1")
    signed = {"Date": date, "Authorization": f"AWS someone:{b64encode(secret).decode()}"}
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("PUT", path, data, signed)
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    connection.close()


@pytest.fixture(scope="session")
def azure(stores_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Azurite's blob service."""
    program = stores_folder / "azure/node_modules/.bin/azurite-blob"
    if not program.exists():
        pytest.skip("Azurite is not here: the set-up found no npm, so abfss:// was not tried")
    from pyarrow import fs

    port, base = free_port(), tmp_path_factory.mktemp("azure")
    command = [str(program), "--silent", "--inMemoryPersistence", "--skipApiVersionCheck"]
    command += ["--blobHost", "127.0.0.1", "--blobPort", str(port)]
    with running(command, port, base / "log"):
        place, scheme = f"127.0.0.1:{port}", "http"
        writer = fs.AzureFileSystem(
            "devstoreaccount1",
            account_key=AZURITE,
            blob_storage_authority=place,
            dfs_storage_authority=place,
            blob_storage_scheme=scheme,
            dfs_storage_scheme=scheme,
        )
        writer.create_dir("box")
        for file in (p for p in CHECKPOINT.rglob("*") if p.is_file()):
            with writer.open_output_stream(f"box/ck/{file.relative_to(CHECKPOINT)}") as stream:
                stream.write(file.read_bytes())
        settings = {"endpoint": f"http://{place}", "account_key": AZURITE}
        yield Store(
            "abfss://box@devstoreaccount1.dfs.core.windows.net/ck", {"abfs": settings}, port
        )


@pytest.fixture(scope="session")
def google(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """An emulator of Google's store; as after a copy, no object stands for a folder."""
    port, base = free_port(), tmp_path_factory.mktemp("google")
    command = [sys.executable, "-m", "gcp_storage_emulator", "start", "--in-memory"]
    command += ["--host", "127.0.0.1", "--port", str(port), "--default-bucket", "bucket"]
    with running(command, port, base / "log"):
        # The emulator takes nothing without content; of empty state files only names are read.
        for file in (p for p in CHECKPOINT.rglob("*") if p.is_file()):
            _post(port, f"team a/ck/{file.relative_to(CHECKPOINT)}", file.read_bytes() or b"-")
        # Google's client tries again for as long as it is let.
        settings = {"endpoint": f"http://127.0.0.1:{port}", "anonymous": "true", "timeout": "6"}
        yield Store("gs://bucket/team a/ck", {"gs": settings}, port)


def _post(port: int, key: str, data: bytes) -> None:
    """Put an object into the bucket by Google's JSON interface."""
    connection = HTTPConnection("127.0.0.1", port, timeout=30)
    path = f"/upload/storage/v1/b/bucket/o?uploadType=media&name={quote(key, safe='')}"
    connection.request("POST", path, data, {"Content-Type": "application/octet-stream"})
    answer = connection.getresponse()
    assert answer.status == 200, answer.read()
    connection.close()


@pytest.fixture(scope="session")
def hdfs(stores_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """A NameNode and a DataNode in one Java; a folder that only its owner may read."""
    import pyspark
    from py4j.java_gateway import GatewayParameters, JavaGateway, launch_gateway

    jars = Path(pyspark.__file__).parent / "jars"
    port, token = launch_gateway(
        jarpath=str(next(jars.glob("py4j-*.jar"))),
        classpath=f"{stores_folder}/hdfs/*:{jars}/*",
        javaopts=list(JVM),
        die_on_exit=True,
        redirect_stdout=deque(maxlen=20),
        redirect_stderr=deque(maxlen=20),
        enable_auth=True,
    )
    gateway = JavaGateway(gateway_parameters=GatewayParameters(port=port, auth_token=token))
    hadoop = gateway.jvm.org.apache.hadoop
    conf = hadoop.conf.Configuration()
    conf.set("hdfs.minidfs.basedir", str(tmp_path_factory.mktemp("hdfs")))
    cluster = getattr(hadoop.hdfs, "MiniDFSCluster$Builder")(conf).numDataNodes(1).build()
    cluster.waitActive()
    files, path = cluster.getFileSystem(), hadoop.fs.Path
    for name in ("/ck", "/locked"):
        files.copyFromLocalFile(path(str(CHECKPOINT)), path(name))
    private = hadoop.fs.permission.FsPermission("700")
    files.setPermission(path("/locked"), private)
    files.setPermission(path("/ck/offsets/1"), hadoop.fs.permission.FsPermission("600"))
    host = f"127.0.0.1:{cluster.getNameNodePort()}"
    yield Store(f"hdfs://{host}/ck", {"hdfs": {"timeout": "60"}}, cluster.getNameNodePort())
    cluster.shutdown()
    gateway.shutdown()


@pytest.fixture
def silent() -> Iterator[int]:
    """The port of a server that takes a connection and says nothing."""
    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(8)
        yield listening.getsockname()[1]


class running:
    """Start a server, wait for its port, and end it."""

    def __init__(self, command: list[str], port: int, log: Path) -> None:
        self.command, self.port, self.log = command, port, log

    def __enter__(self) -> None:
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(self.command, stdout=log, stderr=log)
        try:
            until(lambda: self.process.poll() is not None or self._answers(), every=0.2)
            assert self.process.poll() is None, self.log.read_text()[-500:]
        except AssertionError:
            self.__exit__()
            raise

    def _answers(self) -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        self.process.wait(PATIENCE)
