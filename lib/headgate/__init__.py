"""Headgate: see, judge and act on streaming pipelines over Kafka.

`headgate.watch(spark, to)` is what a Spark program calls to be seen; it needs nothing of Headgate
but what a driver has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from headgate.spark_driver.watch import Watch

__version__ = "0.1.0"


def watch(spark: Any, to: Any, **options: Any) -> Watch:
    """Report every query of the session to `to`; see `headgate.spark_driver.watch.watch`."""
    # Imported here: every command imports this package first.
    from headgate.spark_driver import watch as driver

    return driver.watch(spark, to, **options)
