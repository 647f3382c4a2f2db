"""Evidence, sources and topics that changed: what makes a rule speak, and what keeps it silent."""

from dataclasses import replace

from headgate.model.topology import Topology
from headgate.model.version import Evidence
from headgate.rules.core.report import Outcome

from .build import (
    PLAIN,
    S,
    files,
    graph,
    kafka,
    sources,
    version,
)

R, N, U, W, X = (
    Outcome.RESUMES,
    Outcome.NO_EFFECT,
    Outcome.UNKNOWN,
    Outcome.SILENTLY_WRONG,
    Outcome.REFUSES,
)
EVOLUTION = S + "queryEvolution.enableSourceEvolution"
NAMED = {"offset_log_version": 2, "pinned": {EVOLUTION: "true"}}
TWO = (files(0, "/a"), files(1, "/b"))
SWAPPED = (files(0, "/b"), files(1, "/a"))


# code: (before, after that makes it speak, its outcome, after that keeps it silent)
CASES = {
    "EVD001": (PLAIN, version(capture_error="[CAST_INVALID_INPUT.X] no"), X, PLAIN),
    "EVD002": (
        PLAIN,
        version(stateful=None, sources=None, topology=Topology()),
        U,
        PLAIN,
    ),
    "SRC001": (sources(files()), sources(*TWO), X, sources(files())),
    "SRC002": (sources(files()), sources(kafka()), X, sources(files(format="csv"))),
    "SRC003": (
        sources(files(0, "/a", name="a"), files(1, "/b", name="b"), **NAMED),
        sources(files(0, "/b", name="b"), files(1, "/a", name="a")),
        R,
        sources(files(0, "/a", name="a"), files(1, "/b", name="b")),
    ),
    "SRC004": (
        sources(files(0, "/a", name="a"), **NAMED),
        sources(files(0, "/a", name="b")),
        W,
        sources(files(0, "/a", name="a"), files(1, "/b", name="b")),
    ),
    "SRC005": (sources(files()), sources(files(name="a")), X, sources(files())),
    "SRC006": (
        sources(files(name="a"), **NAMED),
        sources(files(0, "/a", name="a"), files(1, "/b", name="a")),
        X,
        sources(files(0, "/a", name="a"), files(1, "/b", name="b")),
    ),
    "SRC007": (
        sources(files(0, "/a", name="a", offsets=1), files(1, "/b", name="b", offsets=0)),
        sources(files(0, "/b", name="b"), files(1, "/a", name="a")),
        X,
        sources(files(0, "/a", name="a"), files(1, "/b", name="b")),
    ),
    "SRC008": (PLAIN, replace(PLAIN, sources=None), U, PLAIN),
    "SRC009": (PLAIN, replace(PLAIN, settings={EVOLUTION: "true"}), X, PLAIN),
    "SRC010": (PLAIN, sources(replace(files(), format=None, path=None)), U, PLAIN),
    "SRC011": (
        sources(files(0, "/a", name="a"), **NAMED),
        sources(files(0, "/a"), evidence=(Evidence(kind="explain", path="after.txt"),)),
        U,
        sources(files(0, "/a", name="a")),
    ),
    "FIL001": (sources(*TWO), sources(*SWAPPED), X, sources(*TWO)),
    "FIL002": (
        sources(files(0, "/a", advanced=False), files(1, "/b", advanced=False)),
        sources(*SWAPPED),
        W,
        sources(*TWO),
    ),
    "FIL003": (
        sources(files(0, "/a", advanced=False)),
        sources(files(0, "/c")),
        U,
        sources(files(0, "file:///a/")),
    ),
    "FIL004": (sources(files(0, "/a")), sources(files(0, "/a/*")), R, sources(files(0, "/a"))),
    "FIL005": (
        sources(files()),
        sources(files(options={"fileNameOnly": "true"})),
        U,
        sources(files(options={"fileNameOnly": "false"})),
    ),
    "FIL006": (
        sources(files()),
        sources(files(options={"cleanSource": "archive"})),
        X,
        sources(files(options={"cleanSource": "archive", "sourceArchiveDir": "/done"})),
    ),
    "KAF006": (
        sources(kafka(offsets={"orders": {"0": 5, "1": 5}})),
        sources(kafka(options={"assign": '{"orders": [0]}'})),
        X,
        sources(kafka(options={"assign": '{"orders": [0, 1]}'})),
    ),
    "KAF001": (sources(kafka()), sources(kafka(topics=("other",))), X, sources(kafka())),
    "KAF002": (
        sources(kafka(0, ("a",)), kafka(1, ("b",))),
        sources(
            kafka(0, ("b",), {"failOnDataLoss": "false"}),
            kafka(1, ("a",), {"failondataloss": "false"}),
        ),
        W,
        sources(kafka(0, ("a",)), kafka(1, ("b",))),
    ),
    "KAF003": (sources(kafka()), sources(kafka(topics=("orders", "more"))), R, sources(kafka())),
    "KAF004": (
        sources(kafka(options={"startingOffsets": "earliest"})),
        sources(kafka(options={"startingoffsets": "latest"})),
        N,
        sources(kafka(options={"startingoffsets": "earliest"})),
    ),
    "KAF005": (
        sources(kafka(options={"kafka.bootstrap.servers": "a:1"})),
        sources(kafka(options={"kafka.bootstrap.servers": "b:1"})),
        U,
        sources(kafka(options={"kafka.bootstrap.servers": "a:1,c:1"})),
    ),
    "TRF001": (
        PLAIN,
        replace(PLAIN, topology=graph(("filter", "s0.v > 1"))),
        R,
        PLAIN,
    ),
    "TRF002": (
        sources(kafka()),
        sources(kafka(options={"maxOffsetsPerTrigger": "5"})),
        R,
        sources(kafka()),
    ),
}
