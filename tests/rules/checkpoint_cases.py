"""Faults of a checkpoint beside two versions, in the form of `world_cases`."""

from headgate.model.version import CheckpointDamage, CheckpointDamageKind, Progress, Sink
from headgate.rules.core.report import Outcome

from .build import S, aggregate, files, kafka, store, version

R, W, U, OK = Outcome.REFUSES, Outcome.SILENTLY_WRONG, Outcome.UNKNOWN, Outcome.RESUMES
PARTITIONS = "spark.sql.shuffle.partitions"
OUT = Sink(format="json", target="/out", node="sink")
NEW_OUT = Sink(format="json", target="/new", node="sink")
PLAIN = version(aggregate())
STATELESS = version()


def broken(kind, *operators, **more):
    """Return a version of which the checkpoint has a fault, with a count unless told otherwise."""
    fault = CheckpointDamage(kind=kind, what="Something is missing.")
    return version(*(operators or (aggregate(),)), faults=(fault,), **more)


def unverified(key):
    """Return a session that switches one of Spark's own checks off."""
    return version(aggregate(), settings={S + key: "false"})


def split(stored, pinned):
    """Return state in `stored` partitions under an offset log that says `pinned`."""
    made = aggregate(stores=(store(partitions=stored),))
    return broken(CheckpointDamageKind.STATE_PARTITIONS, made, pinned={PARTITIONS: pinned})


LOSSY = (kafka(options={"failOnDataLoss": "false"}),)
LOGLESS = Progress(last_commit_batch=None)
BACK, UNLIKE = CheckpointDamageKind.OFFSETS_WENT_BACK, CheckpointDamageKind.UNLIKE_PROGRESS
NO_LOG, AHEAD = CheckpointDamageKind.NO_SOURCE_LOG, CheckpointDamageKind.SINK_AHEAD

# code: [(before, after, cluster, outcome; None: the rule has nothing to say)]
CASES = {
    "CKP001": [
        (broken(CheckpointDamageKind.NO_METADATA), PLAIN, None, R),
        (broken(CheckpointDamageKind.NO_METADATA, engine_version="4.0.2"), PLAIN, None, OK),
        (
            broken(CheckpointDamageKind.NO_METADATA),
            unverified("checkpoint.verifyMetadataExists.enabled"),
            None,
            OK,
        ),
        (PLAIN, broken(CheckpointDamageKind.NO_METADATA), None, None),
    ],
    "CKP002": [
        (broken(CheckpointDamageKind.NO_PREDECESSOR), PLAIN, None, R),
        (PLAIN, PLAIN, None, None),
    ],
    "CKP003": [
        (broken(CheckpointDamageKind.COMMIT_WITHOUT_OFFSETS), PLAIN, None, R),
        (PLAIN, PLAIN, None, None),
    ],
    "CKP004": [
        (broken(CheckpointDamageKind.NO_OFFSETS), PLAIN, None, R),
        (
            broken(CheckpointDamageKind.NO_OFFSETS, progress=LOGLESS),
            unverified("verifyCheckpointDirectoryEmptyOnStart"),
            None,
            OK,
        ),
        (broken(CheckpointDamageKind.NO_OFFSETS, engine_version="4.0.2"), PLAIN, None, R),
        (
            broken(CheckpointDamageKind.NO_OFFSETS, engine_version="4.0.2", progress=LOGLESS),
            PLAIN,
            None,
            OK,
        ),
        (PLAIN, PLAIN, None, None),
    ],
    "CKP005": [
        (broken(NO_LOG), PLAIN, None, R),
        (broken(NO_LOG, sources=(files(advanced=False),)), PLAIN, None, U),
        (PLAIN, PLAIN, None, None),
    ],
    "CKP006": [
        (broken(CheckpointDamageKind.NO_STATE), PLAIN, None, R),
        (broken(CheckpointDamageKind.STATE_VERSION_GONE), PLAIN, None, R),
        (broken(CheckpointDamageKind.NO_STATE), STATELESS, None, None),
        (PLAIN, PLAIN, None, None),
    ],
    "CKP007": [
        (split(2, "3"), PLAIN, None, R),
        (split(3, "2"), PLAIN, None, W),
        (PLAIN, PLAIN, None, None),
    ],
    "CKP008": [
        (broken(BACK), PLAIN, None, W),
        (broken(UNLIKE), PLAIN, None, W),
        (broken(UNLIKE, sources=LOSSY), PLAIN, None, W),
        (broken(BACK, sources=LOSSY), PLAIN, None, U),
        (PLAIN, PLAIN, None, None),
    ],
    "CKP009": [
        (broken(CheckpointDamageKind.UNREADABLE), PLAIN, None, R),
        (PLAIN, PLAIN, None, None),
    ],
    "CKP010": [
        (broken(AHEAD, sink=OUT), version(aggregate(), sink=OUT), None, W),
        (broken(AHEAD, sink=OUT), version(aggregate(), sink=NEW_OUT), None, None),
        (version(aggregate(), sink=OUT), version(aggregate(), sink=OUT), None, None),
    ],
}
