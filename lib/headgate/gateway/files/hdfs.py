"""HDFS, read-only, through Hadoop's own client, which PySpark brings along.

pyarrow needs libhdfs for it, which no package index ships; the Java client needs nothing more than
Java, and takes a cluster's own configuration (`core-site.xml`, high availability, Kerberos) from
`config_dir` or HADOOP_CONF_DIR. One Java per process and configuration, ended with the process.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO, TypeVar, cast
from urllib.parse import urlsplit

from py4j.protocol import Py4JError, Py4JJavaError, Py4JNetworkError

from headgate.errors import SetupError
from headgate.gateway.files.remote_connect import Wanted
from headgate.gateway.files.remote_errors import explained
from headgate.gateway.files.remote_stream import RemoteStream
from headgate.gateway.files.remote_version import Stored
from headgate.gateway.process.deadline import within
from headgate.gateway.process.py4j import OwnGateway, launch, spark_jars

T = TypeVar("T")
_JVM = ["-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
_ENTRY = re.compile(r"\{path=(?P<path>.*?); isDirectory=(?P<folder>true|false);", re.DOTALL)
_FACTS = re.compile(
    r"\{path=(?P<path>.*?); isDirectory=(?P<folder>true|false);(?: length=(?P<size>\d+);"
    r" replication=\d+; blocksize=\d+;)? modification_time=(?P<at>\d+);",
    re.DOTALL,
)
_START = 30.0
_GONE = "java.io.FileNotFoundException"
_lock = threading.Lock()
_gateways: dict[str, OwnGateway] = {}


class HdfsFiles:
    """One HDFS; errors become OSError, PermissionError or ValueError."""

    def __init__(self, system: Any, gateway: OwnGateway, seconds: float) -> None:
        self._system, self._gateway, self._seconds = system, gateway, seconds

    def is_folder(self, path: str) -> bool | None:
        """Return whether the path is a folder, None where nothing is there."""
        found = self._asked(lambda: self._system.getFileStatus(self._path(path)))
        return None if found is None else bool(found.isDirectory())

    def listed(self, path: str) -> list[tuple[str, bool]]:
        """Return names and whether they are folders; none where the folder does not exist.

        All of them come as one text: a call for each would take longer than the listing.
        """
        text = self._asked(lambda: self._text(self._system.listStatus(self._path(path))))
        found = _ENTRY.finditer(text or "")
        return [(m["path"].rpartition("/")[2], m["folder"] == "true") for m in found]

    def stored(self, path: str, *, whole: bool = True) -> dict[str, Stored]:
        """Return every file below a folder by its path in there; only its own without `whole`."""
        text = self._asked(lambda: self._text(self._system.listStatus(self._path(path))))
        found: dict[str, Stored] = {}
        for m in _FACTS.finditer(text or ""):
            name = m["path"].rpartition("/")[2]
            if m["folder"] == "false":
                found[name] = Stored(int(m["size"]), int(m["at"]))
            elif whole:
                inner = self.stored(f"{path.rstrip('/')}/{name}")
                found |= {f"{name}/{relative}": one for relative, one in inner.items()}
        return found

    def opened(self, path: str) -> BinaryIO:
        """Open a file for reading."""
        found = self._asked(lambda: self._system.open(self._path(path)))
        if found is None:
            raise FileNotFoundError(2, "No such file or directory")

        def read(size: int) -> bytes:
            if size < 0:
                return self._asked(lambda: found.readAllBytes()) or b""
            return self._asked(lambda: found.readNBytes(size)) or b""

        return cast(BinaryIO, RemoteStream(read, found.close))

    def modified(self, path: str) -> int | None:
        """Return when a file was written last, in milliseconds since 1970."""
        found = self._asked(lambda: self._system.getFileStatus(self._path(path)))
        return None if found is None else int(found.getModificationTime())

    def _path(self, path: str) -> Any:
        return self._gateway.jvm.org.apache.hadoop.fs.Path(path or "/")

    def _text(self, array: Any) -> str:
        """Return `Arrays.toString` of an array of objects, which py4j can't call by itself."""
        jvm = self._gateway.jvm
        objects = self._gateway.new_array(jvm.java.lang.Object, 1)
        to_string = jvm.java.lang.Class.forName("java.util.Arrays").getMethod(
            "toString", self._classes(objects.getClass())
        )
        objects[0] = array
        return str(to_string.invoke(None, objects))

    def _classes(self, one: Any) -> Any:
        out = self._gateway.new_array(self._gateway.jvm.java.lang.Class, 1)
        out[0] = one
        return out

    def _asked(self, work: Callable[[], T], times: float = 1) -> T | None:
        return _asked(work, self._seconds * times)


def open_hdfs(
    location: str, settings: Mapping[str, str], environment: Mapping[str, str]
) -> HdfsFiles:
    """Open the file system of an address; without a host the configuration's default one."""
    wanted = Wanted("hdfs", settings, environment)
    gateway = _gateway(wanted.get("config_dir") or "")
    conf = gateway.jvm.org.apache.hadoop.conf.Configuration()
    for name, value in _limits(wanted.seconds).items():
        conf.set(name, value)
    parts = urlsplit(location)
    files = gateway.jvm.org.apache.hadoop.fs.FileSystem
    uri = gateway.jvm.java.net.URI(f"{parts.scheme}://{parts.netloc}/")
    if not parts.netloc:
        uri = files.getDefaultUri(conf)
    user = wanted.get("user")
    system = _asked(
        lambda: files.get(uri, conf, user) if user else files.newInstance(uri, conf),
        wanted.seconds,
    )
    return HdfsFiles(system, gateway, wanted.seconds)


def _limits(seconds: float) -> dict[str, str]:
    """Return settings under which Hadoop's client gives up soon: it would try for minutes."""
    milliseconds = str(int(seconds * 1000))
    return {
        "ipc.client.connect.timeout": "5000",
        "ipc.client.connect.max.retries": "1",
        "ipc.client.connect.max.retries.on.timeouts": "1",
        "ipc.client.rpc-timeout.ms": milliseconds,
        "dfs.client.socket-timeout": milliseconds,
        "dfs.client.failover.max.attempts": "2",
        "dfs.client.max.block.acquire.failures": "1",
    }


def _asked(work: Callable[[], T], seconds: float) -> T | None:
    """Return what Java answers, None where nothing is there."""
    try:
        return within(seconds, work)
    except (Py4JNetworkError, Py4JError) as error:
        thrown = _thrown(error)
        if thrown is None:
            raise OSError(f"Hadoop's client ended: {error}") from None
        kind = thrown.getClass().getName()
        if kind == _GONE:
            return None
        said = str(thrown.getMessage() or "").partition("\n")[0]
        raise explained(OSError(f"{kind.rpartition('.')[2]}: {said}"), "hdfs") from None


def _thrown(error: BaseException | None) -> Any:
    """Return what Java threw, None where it threw nothing.

    In a process with a Spark session PySpark takes every exception of py4j for its own Java's, and
    fails at it: then it is behind what it raised instead.
    """
    while error is not None:
        if isinstance(error, Py4JJavaError):
            return error.java_exception
        error = error.__context__
    return None


def _gateway(config_dir: str) -> OwnGateway:
    """Return the Java of this process for one configuration, started where it is not there."""
    with _lock:
        if config_dir not in _gateways:
            _gateways[config_dir] = within(_START, lambda: _launched(config_dir))
        return _gateways[config_dir]


def _launched(config_dir: str) -> OwnGateway:
    try:
        class_path = ":".join(filter(None, (config_dir, f"{spark_jars()}/*")))
        gateway, _ = launch(class_path, _JVM)
    except SetupError as error:
        raise OSError(str(error)) from None
    return gateway
