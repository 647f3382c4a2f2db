"""Start a Kafka Streams application in a JVM of its own: by its topology, or by its main class.

CLASS#method   a static method that returns a Topology or a StreamsBuilder, and takes nothing,
               Properties or a Map: the KafkaStreams around it is ours, with our settings
CLASS          its main(String[]): the application makes KafkaStreams by itself, and what we
               know of it comes from its metrics (JMX), its group and its log
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from py4j.protocol import Py4JError, Py4JJavaError

from headgate.errors import CaptureError, JarError
from headgate.gateway.kafka_streams.jvm import StreamsJvm, chain_of

ENTRY = re.compile(r"(?P<type>[A-Za-z_$][\w$]*(?:\.[A-Za-z_$][\w$]*)*)(?:#(?P<method>\w+))?$")
_METRICS = "kafka.streams:type=stream-metrics,client-id=*"
_BEANS = {
    "queryNames": ("javax.management.ObjectName", "javax.management.QueryExp"),
    "getAttribute": ("javax.management.ObjectName", "java.lang.String"),
}
_CLOSE = "org.apache.kafka.streams.CloseOptions"
_CLOSE_UNTIL_4_1 = "org.apache.kafka.streams.KafkaStreams$CloseOptions"
_LINK = "java.lang.NoClassDefFoundError", "java.lang.ClassNotFoundException"
_THROWN = re.compile(
    r"^(?:Exception in thread \"[^\"]*\" |Caused by: )?"
    r"(?P<said>[\w.$]+(?:Exception|Error)(?::.*)?)$"
)
_DOWN = ("ERROR", "NOT_RUNNING", "PENDING_SHUTDOWN", "PENDING_ERROR")


@dataclass(frozen=True, slots=True)
class EntryPoint:
    """What is started: a class, and the method that returns its topology where one is named."""

    type: str
    method: str | None = None

    def __str__(self) -> str:
        return f"{self.type}#{self.method}" if self.method else self.type


def entry(text: str) -> EntryPoint | None:
    """Return what `CLASS#method` or `CLASS` names, None where it is neither."""
    match = ENTRY.match(text)
    return EntryPoint(match["type"], match["method"]) if match else None


class StartFailed(Exception):
    """Kafka Streams threw; `causes` are `class: message`, outermost first."""

    def __init__(self, causes: Sequence[str]) -> None:
        super().__init__(causes[0])
        self.causes = tuple(causes)


class ByTopology:
    """An application whose KafkaStreams is made here; its topology is built at once.

    `is_shared`: the JVM outlives it. Raises CaptureError for what the entry did wrong, Refused
    where Streams refuses to build it.
    """

    def __init__(
        self,
        jvm: StreamsJvm,
        what: EntryPoint,
        settings: Mapping[str, str],
        *,
        is_shared: bool = False,
    ) -> None:
        self._jvm, self._is_shared = jvm, is_shared
        self._properties = jvm.java.java.util.Properties()
        for key, value in settings.items():
            self._properties.setProperty(key, value)
        self.release = release(jvm)
        self._topology = self._built(what)
        self.description = str(self._topology.describe().toString())
        self._thrown = jvm.java.java.util.concurrent.ConcurrentLinkedQueue()
        self._streams: Any = None

    def start(self) -> None:
        """Make KafkaStreams with our settings, and start it; Refused where it throws."""
        try:
            self._streams = self._jvm.java.org.apache.kafka.streams.KafkaStreams(
                self._topology, self._properties
            )
            self._streams.setUncaughtExceptionHandler(self._handler())
            self._streams.start()
        except Py4JJavaError as error:
            raise StartFailed(chain_of(error.java_exception)) from None

    def state(self) -> str:
        """Return the state of the client, as Kafka Streams calls it."""
        return str(self._streams.state().toString())

    def failure(self) -> tuple[str, ...]:
        """Return the exception that a thread ended with, empty where none did."""
        thrown = self._thrown.peek()
        return chain_of(thrown) if thrown is not None else ()

    def stop(self, seconds: float) -> None:
        """Close the client, which flushes and commits, then end the JVM if it is its own."""
        if self._streams is not None:
            # The JVM is ended in any case.
            with suppress(Py4JError, OSError):
                self._streams.close(self._leaving(int(seconds)))
        if not self._is_shared:
            self._jvm.close()

    def _leaving(self, seconds: int) -> Any:
        """Return options of a close that leaves the group: else the next start waits for it.

        The class is another one since Kafka 4.2.
        """
        java = self._jvm.java
        duration = java.java.time.Duration.ofSeconds(seconds)
        try:
            ways = self._jvm.load(f"{_CLOSE}$GroupMembershipOperation").getEnumConstants()
        except CaptureError:
            return self._jvm.load(_CLOSE_UNTIL_4_1).getConstructor(
                self._jvm.words([], "java.lang.Class")
            ).newInstance(self._jvm.words([])).leaveGroup(True).timeout(duration)  # fmt: skip
        leave = _named(ways, "LEAVE_GROUP")
        options = java.org.apache.kafka.streams.CloseOptions
        return options.groupMembershipOperation(leave).withTimeout(duration)

    def _built(self, what: EntryPoint) -> Any:
        method, given = _method(self._jvm, what, self._properties)
        try:
            made = method.invoke(None, self._jvm.words(given))
        except Py4JJavaError as error:
            causes = chain_of(error.java_exception)
            if causes[0].startswith(_LINK):
                raise CaptureError(
                    f"{what} needs a class that no jar contains: {causes[0]}. Add the jar of this "
                    "class with --jar, or include the class in the `jar` of headgate.toml"
                ) from None
            raise StartFailed(causes) from None
        if made is None:
            raise CaptureError(f"{what} returned null. Change the method to return a Topology")
        kind = made.getClass().getName()
        if kind == "org.apache.kafka.streams.StreamsBuilder":
            return self._from(made)
        if not self._jvm.load("org.apache.kafka.streams.Topology").isInstance(made):
            raise CaptureError(f"{what} returned a {kind}. Change the method to return a Topology")
        return made

    def _from(self, builder: Any) -> Any:
        try:
            return builder.build(self._properties)
        except Py4JJavaError as error:
            raise StartFailed(chain_of(error.java_exception)) from None

    def _handler(self) -> Any:
        """Return a handler that keeps the exception and shuts the client down.

        Made of method handles, as nothing is compiled here.
        """
        java, load = self._jvm.java, self._jvm.load
        invoke = java.java.lang.invoke
        thrown = load("java.lang.Throwable")
        prefix = "org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler"
        answer = load(f"{prefix}$StreamThreadExceptionResponse")
        says = _named(answer.getEnumConstants(), "SHUTDOWN_CLIENT")
        add_type = invoke.MethodType.methodType(
            java.java.lang.Boolean.TYPE, load("java.lang.Object")
        )
        keep = invoke.MethodHandles.publicLookup().findVirtual(
            load("java.util.concurrent.ConcurrentLinkedQueue"), "add", add_type
        ).bindTo(self._thrown)  # fmt: skip
        keep = keep.asType(invoke.MethodType.methodType(java.java.lang.Void.TYPE, thrown))
        constant = invoke.MethodHandles.constant(answer, says)
        ignoring = invoke.MethodHandles.dropArguments(
            constant, 0, self._jvm.words([thrown], "java.lang.Class")
        )
        both = invoke.MethodHandles.foldArguments(ignoring, keep)
        return invoke.MethodHandleProxies.asInterfaceInstance(load(prefix), both)


class ByMain:
    """An application that starts itself; its main runs in a thread of its own."""

    def __init__(self, jvm: StreamsJvm, what: EntryPoint, arguments: Sequence[str]) -> None:
        self._jvm = jvm
        self.release = release(jvm)
        try:
            words = jvm.words([], "java.lang.String").getClass()
            self._main = jvm.load(what.type).getDeclaredMethod(
                "main", jvm.words([words], "java.lang.Class")
            )
            self._main.setAccessible(True)
        except Py4JJavaError:
            raise CaptureError(
                f"{what.type} has no method main(String[]): pass CLASS#method, a static method "
                "that returns the Topology"
            ) from None
        self._arguments = arguments
        self._causes: tuple[str, ...] = ()

    def start(self) -> None:
        """Call main; it may return at once or never."""
        threading.Thread(
            target=self._run, name="main class of the application", daemon=True
        ).start()

    def learn(self, seconds: float) -> str | None:
        """Start it and return its topology's description; None where it has none by then.

        What main throws until then is what the real start throws, too, so nothing is made of it.
        """
        self.start()
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and not self._causes and self._jvm.child.running:
            if (found := self.description) is not None:
                return found
            time.sleep(0.1)
        return None

    @property
    def description(self) -> str | None:
        """The topology as Kafka Streams describes it in its metrics, None before it has one."""
        return self._metric("topology-description")

    @property
    def application_id(self) -> str | None:
        """What it is really called, None before it has a client."""
        return self._metric("application-id")

    def state(self) -> str:
        """Return the client's state; `NONE` while there is none, `ENDED` where the JVM is gone."""
        if not self._jvm.child.running:
            return "ENDED"
        return self._metric("state") or "NONE"

    def failure(self) -> tuple[str, ...]:
        """Return what main threw, or what its log says last where the client is down."""
        if self._causes:
            return self._causes
        if self.state() in ("ENDED", *_DOWN):
            return logged_exception(self._jvm.log())
        return ()

    def stop(self, seconds: float) -> None:
        """Ask the JVM to end, so that its shutdown hooks close the client; then kill it."""
        self._jvm.ask_to_end(seconds)

    def _run(self) -> None:
        values = self._jvm.words(list(self._arguments), "java.lang.String")
        try:
            self._main.invoke(None, self._jvm.words([values]))
        except Py4JJavaError as error:
            self._causes = chain_of(error.java_exception)
        except (Py4JError, OSError):
            pass  # the JVM ended; its log says why

    def _metric(self, name: str) -> str | None:
        try:
            pattern = self._jvm.java.javax.management.ObjectName(_METRICS)
            beans = list(self._ask("queryNames", pattern, None))
            return str(self._ask("getAttribute", beans[0], name)) if beans else None
        except (Py4JError, OSError):
            return None

    def _ask(self, method: str, *given: Any) -> Any:
        """Call a method of the JVM's own MBeanServer, by its interface: its class is not open."""
        factory = self._jvm.java.java.lang.management.ManagementFactory
        types = [self._jvm.load(t) for t in _BEANS[method]]
        called = self._jvm.load("javax.management.MBeanServer").getMethod(
            method, self._jvm.words(types, "java.lang.Class")
        )
        return called.invoke(factory.getPlatformMBeanServer(), self._jvm.words(given))


def logged_exception(log: str) -> tuple[str, ...]:
    """Return the first exception in a log with its causes, as `class: message`.

    The first one counts: what follows is thrown while the others are shut down.
    """
    found: list[str] = []
    for line in log.splitlines():
        match = _THROWN.match(line)
        if match and (not found or line.startswith("Caused by: ")):
            found.append(match["said"])
        elif found and match:
            break
    return tuple(found)


def release(jvm: StreamsJvm) -> str:
    """Return which release of Kafka the application has on its class path."""
    return str(jvm.java.org.apache.kafka.common.utils.AppInfoParser.getVersion())


def is_down(state: str) -> bool:
    """Whether a client in this state will not run again by itself."""
    return state in (*_DOWN, "ENDED")


def _method(jvm: StreamsJvm, what: EntryPoint, properties: Any) -> tuple[Any, list[Any]]:
    owner = jvm.load(what.type)
    for takes in ((), ("java.util.Properties",), ("java.util.Map",)):
        types = jvm.words([jvm.load(t) for t in takes], "java.lang.Class")
        try:
            method = owner.getDeclaredMethod(what.method, types)
        except Py4JJavaError:
            continue
        if not jvm.java.java.lang.reflect.Modifier.isStatic(method.getModifiers()):
            raise CaptureError(f"{what} isn't static. Make the method static")
        method.setAccessible(True)
        return method, [properties] if takes else []
    raise JarError(
        f"{what.type} has no method {what.method}(), {what.method}(Properties) or "
        f"{what.method}(Map)"
    )


def _named(constants: Any, name: str) -> Any:
    return next(c for c in constants if c.name() == name)
