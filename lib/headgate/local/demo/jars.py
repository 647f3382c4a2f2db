"""Where the embedded stack finds its jars; the search itself is the gateway's."""

from headgate.gateway.process.jars import (
    broker_class_path,
    jars_folder,
    spark_jars,
    streams_class_path,
)

__all__ = ["broker_class_path", "jars_folder", "spark_jars", "streams_class_path"]
