"""Record the upgrades of tests/cases/streams_fresh/recorder by real Kafka Streams.

Those of Cases.java are kept in tests/cases/streams_fresh, those of MoreCases.java in streams_more,
those of PullCases.java in streams_pulls, those of KindCases.java in streams_kinds, those of
LaterCases.java in streams_pulls_later, those of ThirdCases.java in streams_pulls_third, those of
FourthCases.java in streams_pulls_fourth, those of FifthCases.java in streams_pulls_fifth, those of
SixthCases.java in streams_pulls_sixth.

usage: record_upgrades.py FOLDER [NAME...]

Starts a broker of its own and one Java process that runs every case: FOLDER/NAME gets before/,
after/ and runs.json. `rule_upgrades.py` says from them what each upgrade did.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from headgate.gateway.kafka_broker.local_broker import running_broker
from headgate.gateway.process.jars import streams_class_path

RECORDER = Path(__file__).parents[1] / "tests" / "cases" / "streams_fresh" / "recorder"


def main() -> None:
    """Compile the recorder and run it against a broker."""
    folder, *names = sys.argv[1:]
    with TemporaryDirectory() as scratch:
        sources = sorted(str(p) for p in RECORDER.glob("*.java"))
        path = streams_class_path()
        subprocess.run(["javac", "-nowarn", "-cp", path, "-d", scratch, *sources], check=True)
        with running_broker(Path(scratch) / "broker") as address:
            java = ("java", "-Xmx512m", "-XX:+UseSerialGC", f"-Djava.io.tmpdir={scratch}")
            run = [*java, "-cp", f"{scratch}:{path}", "Recorder", address, folder, *names]
            subprocess.run(run, check=True, stderr=subprocess.DEVNULL)


if __name__ == "__main__":
    main()
