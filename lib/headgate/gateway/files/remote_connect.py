"""Open the file system that an address names: its scheme, its settings, its credentials.

    s3://bucket/path, s3a://, s3n://                   [file_systems.s3]
    abfss://container@account.host/path, wasbs://      [file_systems.abfs]
    gs://bucket/path, gcs://                           [file_systems.gs]
    hdfs://host:port/path, viewfs://                   [file_systems.hdfs]

A setting goes before the environment variable that the vendor's own tools read. Without
credentials the vendor's own chain is asked (profiles, the role of this machine, ...), unless
`anonymous` is set.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from urllib.parse import urlsplit

from pyarrow import fs

SECONDS = 15.0
_CHECKSUMS = "AWS_REQUEST_CHECKSUM_CALCULATION"
_environment = threading.Lock()
_ATTEMPTS = 2
FAMILIES = {
    **dict.fromkeys(("s3", "s3a", "s3n"), "s3"),
    **dict.fromkeys(("abfs", "abfss", "wasb", "wasbs"), "abfs"),
    **dict.fromkeys(("gs", "gcs"), "gs"),
    **dict.fromkeys(("hdfs", "viewfs"), "hdfs"),
}
ENVIRONMENT: dict[str, dict[str, tuple[str, ...]]] = {
    "s3": {
        "endpoint": ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"),
        "region": ("AWS_REGION", "AWS_DEFAULT_REGION"),
    },
    "abfs": {
        "account_key": ("AZURE_STORAGE_ACCOUNT_KEY", "AZURE_STORAGE_KEY"),
        "sas_token": ("AZURE_STORAGE_SAS_TOKEN",),
    },
    "gs": {"endpoint": ("STORAGE_EMULATOR_HOST",)},
    "hdfs": {"user": ("HADOOP_USER_NAME",), "config_dir": ("HADOOP_CONF_DIR",)},
}


@dataclass(frozen=True, slots=True)
class Address:
    """A remote address: its family of file systems, host (or bucket), user part and path."""

    family: str
    host: str
    user: str
    port: int | None
    path: str


@dataclass(frozen=True, slots=True)
class Wanted:
    """The settings of one family, the environment behind them."""

    family: str
    settings: Mapping[str, str]
    environment: Mapping[str, str]

    def get(self, name: str) -> str | None:
        """Return a setting, else the environment's, None where neither says something."""
        if value := self.settings.get(name):
            return value
        variables = ENVIRONMENT[self.family].get(name, ())
        return next((self.environment[v] for v in variables if self.environment.get(v)), None)

    def is_set(self, name: str) -> bool:
        """Whether a setting says yes."""
        return (self.get(name) or "").lower() in ("true", "yes", "1")

    @property
    def seconds(self) -> float:
        """How long one answer may take."""
        try:
            return max(float(self.get("timeout") or SECONDS), 0.1)
        except ValueError:
            raise ValueError(
                f"`timeout` under [file_systems.{self.family}] must be a number of seconds, found "
                f"{self.get('timeout')!r}"
            ) from None


def address(location: str) -> Address:
    """Return the parts of an address; ValueError where its scheme or its shape is not known."""
    scheme, _, rest = location.partition("://")
    family = FAMILIES.get(scheme.lower())
    if family is None:
        raise ValueError(f"unknown scheme {scheme}: use one of {', '.join(FAMILIES)}, file")
    # As Hadoop takes it: a `%`, `#` or `?` in a path is itself.
    netloc, _, path = rest.partition("/")
    user, _, host = netloc.rpartition("@")
    name, _, port = host.partition(":")
    if not name and family != "hdfs":
        raise ValueError("the address needs a bucket or container: SCHEME://BUCKET/PATH")
    if ":" in user:
        raise ValueError("an address must not contain credentials: set them under [file_systems]")
    number = int(port) if port.isdecimal() else None
    return Address(family, name, user, number, path.strip("/"))


def open_system(
    found: Address, settings: Mapping[str, str], environment: Mapping[str, str] = os.environ
) -> tuple[fs.FileSystem, str]:
    """Return pyarrow's file system and the path in it; nothing is asked of a server yet."""
    wanted = Wanted(found.family, settings, environment)
    return _OPEN[found.family](found, wanted)


def _s3(found: Address, wanted: Wanted) -> tuple[fs.FileSystem, str]:
    endpoint = urlsplit(wanted.get("endpoint") or "")
    key, secret = wanted.get("access_key"), wanted.get("secret_key")
    if bool(key) != bool(secret):
        raise ValueError("set both access_key and secret_key under [file_systems.s3], or neither")
    region = wanted.get("region")
    with _old_checksums(needed=bool(endpoint.netloc)):
        system = fs.S3FileSystem(
            access_key=key,
            secret_key=secret,
            session_token=wanted.get("session_token") if key else None,
            anonymous=wanted.is_set("anonymous") and not key,
            region=region or ("us-east-1" if endpoint.netloc else None),
            endpoint_override=endpoint.netloc + endpoint.path.rstrip("/") or None,
            scheme=endpoint.scheme or "https",
            connect_timeout=min(wanted.seconds, 5.0),
            request_timeout=wanted.seconds,
            # A small object is put by one request: it is there whole or not at all.
            allow_delayed_open=True,
            retry_strategy=fs.AwsStandardS3RetryStrategy(max_attempts=_ATTEMPTS),
        )
    return system, f"{found.host}/{found.path}".rstrip("/")


@contextmanager
def _old_checksums(*, needed: bool) -> Iterator[None]:
    """Let AWS's client be made without the checksums of 2025, which other servers do not know.

    It asks the environment once, when it is made; S3Proxy and others refuse what it writes else
    (`XAmzContentSHA256Mismatch`). What we write is read back in any case.
    """
    if not needed or _CHECKSUMS in os.environ:
        yield
        return
    with _environment:
        os.environ[_CHECKSUMS] = "when_required"
        try:
            yield
        finally:
            os.environ.pop(_CHECKSUMS, None)


def _abfs(found: Address, wanted: Wanted) -> tuple[fs.FileSystem, str]:
    account, _, authority = found.host.partition(".")
    if not found.user:
        raise ValueError(
            "expected an Azure address: abfss://CONTAINER@ACCOUNT.dfs.core.windows.net/PATH"
        )
    more: dict[str, str] = {}
    if endpoint := wanted.get("endpoint"):
        parts = urlsplit(endpoint)
        for service in ("blob", "dfs"):
            more[f"{service}_storage_authority"] = parts.netloc
            more[f"{service}_storage_scheme"] = parts.scheme
    elif authority and not authority.endswith("core.windows.net"):
        for service in ("blob", "dfs"):
            domain = authority.removeprefix("dfs.").removeprefix("blob.")
            more[f"{service}_storage_authority"] = f".{service}.{domain}"
    key, token = wanted.get("account_key"), wanted.get("sas_token")
    system = fs.AzureFileSystem(
        account, account_key=None if token else key, sas_token=token, **more
    )
    return system, f"{found.user}/{found.path}".rstrip("/")


def _gs(found: Address, wanted: Wanted) -> tuple[fs.FileSystem, str]:
    endpoint = wanted.get("endpoint") or ""
    parts = urlsplit(endpoint if "//" in endpoint or not endpoint else f"http://{endpoint}")
    system = fs.GcsFileSystem(
        anonymous=wanted.is_set("anonymous"),
        endpoint_override=parts.netloc or None,
        scheme=parts.scheme or "https",
        retry_time_limit=timedelta(seconds=max(int(wanted.seconds), 1)),
    )
    return system, f"{found.host}/{found.path}".rstrip("/")


_OPEN: dict[str, Callable[[Address, Wanted], tuple[fs.FileSystem, str]]] = {
    "s3": _s3,
    "abfs": _abfs,
    "gs": _gs,
}
