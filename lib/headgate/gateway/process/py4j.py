"""py4j's gateway to a JVM of our own; Spark's may be in the same process."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from subprocess import Popen
from typing import Any

from py4j.java_gateway import GatewayClient, GatewayParameters, JavaGateway, launch_gateway
from py4j.protocol import Py4JError, get_return_value, is_error

from headgate.errors import SetupError
from headgate.gateway.process.java import java


class OwnGateway(JavaGateway):  # type: ignore[misc]
    """A gateway whose Java exceptions stay its own.

    A Spark session exchanges py4j's reading of answers for the whole process, by one that looks
    each exception up in Spark's JVM (`pyspark.errors.exceptions.captured`, 4.0): what another JVM
    threw is another object there, and some call's failure comes out instead. So the client raises
    before that reading has its turn.
    """

    def _create_gateway_client(self) -> Any:
        return _Client(gateway_parameters=self.gateway_parameters)


class _Client(GatewayClient):  # type: ignore[misc]
    def send_command(self, command: str, retry: bool = True, binary: bool = False) -> Any:
        answer = super().send_command(command, retry, binary)
        if not binary and is_error(answer)[0]:
            target, name = [*command.split("\n"), "", ""][1:3]
            get_return_value(answer, self, target, name)
        return answer


def launch(
    class_path: str, options: Sequence[str], *, auto_convert: bool = False
) -> tuple[OwnGateway, Popen[bytes]]:
    """Start a JVM with these options of Java, and return the gateway to it and its process.

    It listens on loopback only, requires a token, and ends when its standard input closes, that is
    with this process. What it prints is dropped. With `auto_convert` Python's collections are given
    to it as Java's. SetupError if there is no Java that starts, or no jar of py4j.
    """
    try:
        port, token, process = launch_gateway(
            jarpath=py4j_jar(),
            classpath=class_path,
            javaopts=list(options),
            die_on_exit=True,
            java_path=java(),
            enable_auth=True,
            return_proc=True,
        )
    except (OSError, ValueError, Py4JError) as error:
        raise SetupError(f"Java could not be started: {error}. Install Java 17 or newer") from None
    parameters = GatewayParameters(port=port, auth_token=token, auto_convert=auto_convert)
    return OwnGateway(gateway_parameters=parameters), process


def spark_jars() -> Path:
    """Return the folder of the jars that PySpark brings."""
    import pyspark

    return Path(pyspark.__file__).parent / "jars"


def py4j_jar() -> str:
    """Return py4j's jar, which is beside PySpark's own; SetupError if it is missing."""
    jars = sorted(spark_jars().glob("py4j-*.jar"))
    if not jars:
        raise SetupError("The PySpark installation has no py4j jar: install PySpark again.")
    return str(jars[-1])
