"""py4j's gateway to a JVM of our own, beside which Spark's may stand in the same process."""

from __future__ import annotations

from typing import Any

from py4j.java_gateway import GatewayClient, JavaGateway
from py4j.protocol import get_return_value, is_error


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
