"""Kafka's errors as ours, and one deadline for many futures."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any, TypeVar

from confluent_kafka import KafkaError, KafkaException

from headgate.errors import HeadgateError, NotFoundError, RefusedError, UnreachableError

K = TypeVar("K")

SILENT = {
    KafkaError._TRANSPORT,
    KafkaError._TIMED_OUT,
    KafkaError._TIMED_OUT_QUEUE,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
    KafkaError.REQUEST_TIMED_OUT,
}
LOGIN = {KafkaError._AUTHENTICATION, KafkaError._SSL, KafkaError.SASL_AUTHENTICATION_FAILED}
FORBIDDEN = {
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
}
MISSING = {
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError._UNKNOWN_TOPIC,
    KafkaError._UNKNOWN_PARTITION,
    KafkaError._NOENT,
    KafkaError.GROUP_ID_NOT_FOUND,
    # A name that no topic can have.
    KafkaError.TOPIC_EXCEPTION,
}
LEADERLESS = {
    KafkaError._NOENT,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.NOT_LEADER_FOR_PARTITION,
}
# `host:port/1: ...` is a broker that Kafka named, `host:port/bootstrap: ...` our own address.
NAMED = re.compile(r"(\w+://)?(?P<address>\S+)/\d+: ")
TRANSIENT = {
    KafkaError.NOT_COORDINATOR,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
}

# What a request to a group's coordinator is given, in seconds: more than anybody waits for it.
# Where its own time runs out before the coordinator was found, librdkafka 2.16 aborts the whole
# process when it is found afterwards (its issue 4605) [run: a broker that stands still].
COORDINATOR_TIME = 60.0


class Deadline:
    """One time limit over several calls, in seconds from now."""

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    @property
    def left(self) -> float:
        """Seconds left, never below what librdkafka takes as a timeout."""
        return max(self._end - time.monotonic(), 0.05)


def kafka_error(error: BaseException) -> Any:
    """Return librdkafka's error object; a future that ran out of time counts as timed out."""
    if isinstance(error, KafkaException):
        return error.args[0]
    return KafkaError(KafkaError._TIMED_OUT)


def gather(
    futures: Mapping[K, Future[Any]], deadline: Deadline
) -> tuple[dict[K, Any], dict[K, Any]]:
    """Wait for all; return results by key, and for the others their `KafkaError` by key."""
    done: dict[K, Any] = {}
    failed: dict[K, Any] = {}
    for key, future in futures.items():
        try:
            done[key] = future.result(timeout=deadline.left)
        except (KafkaException, FutureTimeoutError) as error:
            failed[key] = kafka_error(error)
    return done, failed


def one(future: Future[Any], bootstrap: str, deadline: Deadline) -> Any:
    """Return the future's result or raise its error as one of ours."""
    done, failed = gather({0: future}, deadline)
    if failed:
        raise translate(failed[0], bootstrap)
    return done[0]


def is_final(hint: Any) -> bool:
    """Whether a connection's failure is one that waiting does not heal at once."""
    if hint is None:
        return False
    text = hint.str()
    return hint.code() in LOGIN or "Connection refused" in text or "Failed to resolve" in text


def advertised(hint: Any) -> str | None:
    """Return the broker's address where the failure is one of a broker that Kafka named."""
    found = NAMED.match(hint.str()) if hint is not None else None
    return found["address"] if found else None


def unreachable(bootstrap: str, hint: Any = None) -> UnreachableError:
    """Say that nothing answered; `hint` is the last error that a connection reported."""
    why = f" ({_short(hint.str())})" if hint is not None else ""
    if hint is not None and hint.code() in LOGIN:
        return UnreachableError(
            f"Kafka at {bootstrap} rejects the login{why}: check [kafka.config] in headgate.toml"
        )
    if address := advertised(hint):
        return UnreachableError(
            f"Kafka at {bootstrap} advertises broker {address}, which does not "
            f"respond{why}. Check advertised.listeners: this machine must reach the broker"
        )
    return UnreachableError(
        f"Kafka at {bootstrap} does not respond{why}: check that a broker runs at this "
        "address. Check bootstrap_servers and security.protocol in headgate.toml"
    )


def _short(text: str) -> str:
    """Cut the broker's address before and the time after what librdkafka says."""
    text = re.sub(r"^\S+/(bootstrap|\d+): ", "", text)
    return re.sub(r" \(after \d+ms.*$", "", text)


def translate(error: Any, bootstrap: str, hint: Any = None) -> HeadgateError:
    """Return our error for a `KafkaError`; `hint` as for `unreachable`."""
    code = error.code()
    if code in SILENT or code in LOGIN:
        return unreachable(bootstrap, error if code in LOGIN else hint)
    if code in FORBIDDEN:
        return RefusedError(f"Kafka at {bootstrap} denied access: {error.str()}. Check the ACLs")
    if code in MISSING:
        return NotFoundError(
            f"Kafka at {bootstrap} doesn't know this topic, partition or group: "
            f"{error.str()}. Check the name of the topic or group"
        )
    return UnreachableError(f"Kafka at {bootstrap} returned an error: {error.str()}")
