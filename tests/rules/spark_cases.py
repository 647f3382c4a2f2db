"""Another Spark than the one that wrote the checkpoint, in the form of `world_cases`.

What was measured: every kind of operator, unchanged, on checkpoints that 3.5.8, 4.0.2 and
4.2.0 wrote.
"""

from headgate.model.spark_settings import PARTITIONS, PINNED_DEFAULTS
from headgate.model.version import Progress
from headgate.rules.core.report import Outcome

from .build import aggregate, graph, join, version

R, U, OK = Outcome.REFUSES, Outcome.UNKNOWN, Outcome.RESUMES
ANSI = "spark.sql.ansi.enabled"
OLD_PINS = {PARTITIONS: "2"}
CASTING = graph(("project", "k, cast(v as int)"))


def on(spark, *operators, **more):
    return version(*(operators or (aggregate(),)), engine_version=spark, **more)


def commits(number):
    return Progress(last_offset_batch=3, last_commit_batch=3, commit_log_version=number)


# code: [(before, after, cluster, outcome; None: the rule has nothing to say)]
CASES = {
    "SPK001": [
        (on("4.2.0", offset_log_version=2), on("4.0.2"), None, R),
        (on("4.2.0", offset_log_version=2), on("3.5.8"), None, R),
        (on("4.2.0", offset_log_version=2), on("4.2.0"), None, None),
        (on("4.2.0", offset_log_version=3), on("4.2.0"), None, R),
        (on("4.2.0", progress=commits(2)), on("3.5.8"), None, R),
        (on("4.2.0", progress=commits(2)), on("4.0.2"), None, None),
        (on("4.2.0", progress=commits(3)), on("4.0.2"), None, R),
        (on("4.2.0"), on("3.5.8"), None, None),
    ],
    "SPK002": [
        (on("3.5.8"), on("4.2.0"), None, OK),
        (on("4.2.0"), on("3.5.8"), None, OK),
        (on("3.5.8", join()), on("4.2.0", join()), None, U),
        (on("4.2.0", join()), on("3.5.8", join()), None, OK),
        (on("4.0.2", join()), on("4.2.0", join()), None, OK),
        (on("4.2.0"), on("4.0.2"), None, OK),
        (on("3.5.8"), on("4.0.2"), None, U),
        (on("3.3.0"), on("4.2.0"), None, U),
        (on("4.2.0"), on("5.0.0"), None, U),
        (on("4.2.0"), on("4.2.1"), None, None),
        # What the offset log pins tells who wrote it.
        (on(None, pinned=OLD_PINS), on("4.2.0"), None, OK),
        (on(None, pinned={**PINNED_DEFAULTS, PARTITIONS: "2"}), on("4.2.0"), None, None),
        (on(None), on("4.2.0"), None, None),
    ],
    "SPK003": [
        (on("3.5.8"), on("4.2.0", topology=CASTING), None, U),
        (on("3.5.8"), on("4.2.0"), None, None),
        (on("3.5.8"), on("4.2.0", topology=CASTING, settings={ANSI: "false"}), None, None),
        (on("4.0.2"), on("4.2.0", topology=CASTING), None, None),
        (on("3.5.8"), on("3.5.9", topology=CASTING), None, None),
    ],
}
