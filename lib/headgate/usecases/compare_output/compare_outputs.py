"""Compare two outputs by key: which rows are missing, extra or different."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from headgate.errors import OutputError
from headgate.gateway.spark.compare_outputs import CompareRequest
from headgate.gateway.spark.compare_outputs import compare_outputs as compare_by_spark
from headgate.model.output_comparison import OutputComparison
from headgate.spark_jobs.data.compare_outputs import check
from headgate.spark_jobs.data.output_address import TableOutput, TopicOutput, parse_address
from headgate.text.numbers import instead
from headgate.usecases.context import Context


def compare_request(
    a: str,
    b: str,
    keys: Sequence[str],
    *,
    tolerance: float = 0.0,
    ignore: Sequence[str] = (),
    newest: bool = False,
) -> CompareRequest:
    """Return a request; OutputError if its options contradict each other, or are invalid."""
    keys, ignore = _names(keys), _names(ignore)
    check(keys, ignore, tolerance)
    addresses = [parse_address(text) for text in (a, b)]
    if newest and not any(isinstance(address, TopicOutput) for address in addresses):
        raise OutputError(
            "--newest works only for topics: leave out --newest, or compare kafka:TOPIC"
        )
    return CompareRequest(a=a, b=b, keys=keys, tolerance=tolerance, ignore=ignore, newest=newest)


def compare_outputs(
    wish: CompareRequest,
    *,
    context: Context,
    say: Callable[[str], None] = lambda _: None,
    cancelled: Callable[[], bool] = lambda: False,
) -> OutputComparison:
    """Compare two outputs on the master of `[spark]`, and return the differences.

    Topics are those of the registered cluster, tables those of `[jdbc.NAME]`. OutputError if an
    output can't be read or compared, UnreachableError if a server didn't respond.
    """
    registry = context.registry
    for text in (wish.a, wish.b):
        address = parse_address(text)
        if isinstance(address, TableOutput) and address.connection not in registry.jdbc:
            names = instead(address.connection, registry.jdbc)
            raise OutputError(
                f"no database {address.connection} is declared: add [jdbc.{address.connection}] "
                f"with `url` to headgate.toml{names}"
            )
        if isinstance(address, TopicOutput) and not registry.bootstrap_servers:
            raise OutputError(
                f"{text} needs a Kafka cluster: set `bootstrap_servers` under [kafka] in "
                "headgate.toml"
            )
    return compare_by_spark(wish, registry, say=say, cancelled=cancelled)


def _names(given: Sequence[str]) -> list[str]:
    return list(dict.fromkeys(name.strip() for name in given if name.strip()))
