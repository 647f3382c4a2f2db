"""Which Spark a verdict holds for, and what differs between the versions that were measured."""

from __future__ import annotations

import re
from dataclasses import dataclass

from headgate.model.version import Version

DEFAULT = "4.2.0"
MEASURED = ((3, 5), (4, 0), (4, 2))

# Same refusal, other name: (first version that says so, name), newest first.
_NAMES = {
    "STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE": "StateSchemaNotCompatible",
    "STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE": "StateSchemaNotCompatible",
    "STREAMING_STATEFUL_OPERATOR_NOT_MATCH_IN_STATE_METADATA": "StateSchemaNotCompatible",
    "STREAMING_OUTPUT_MODE": "ExtendedAnalysisException",
    "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY": "FileNotFoundException",
    "CANNOT_LOAD_STATE_STORE": "FileNotFoundException",
}


@dataclass(frozen=True, slots=True)
class SparkVersion:
    """A Spark version; compare with `at_least`. `assumed` where no evidence named one."""

    text: str
    number: tuple[int, int]
    assumed: bool = False

    def at_least(self, major: int, minor: int) -> bool:
        """Say whether this is `major.minor` or newer."""
        return self.number >= (major, minor)

    @property
    def measured(self) -> bool:
        """Say whether restarts were measured on this minor version."""
        return self.number in MEASURED

    @property
    def checks_operator_names(self) -> bool:
        """4.0 and newer write `state/N/_metadata` and compare operator names with it."""
        return self.at_least(4, 0)

    def condition(self, name: str) -> str:
        """Return what this version calls the refusal that 4.2 calls `name`."""
        if self.at_least(4, 2):
            return name
        if self.at_least(4, 0):
            missing = "STREAMING_STATEFUL_OPERATOR_MISSING_STATE_DIRECTORY"
            return "CANNOT_LOAD_STATE_STORE" if name == missing else name
        return _NAMES.get(name, name)

    @property
    def source(self) -> str:
        """Say how a verdict for this version is known."""
        if self.measured:
            return f"measured on Spark {'.'.join(map(str, self.number))}"
        return f"measured on Spark 4.2.0; not tested on Spark {self.text}"


def judged_version(before: Version, after: Version, given: str | None) -> SparkVersion:
    """Return the version that will restart: given, else the new one's, else the old one's.

    Anything without a `major.minor` in front is passed over.
    """
    for text in (given, after.engine_version, before.engine_version):
        if text and (match := re.match(r"(\d+)\.(\d+)", text)):
            return SparkVersion(text, (int(match[1]), int(match[2])))
    return SparkVersion(DEFAULT, (4, 2), assumed=True)
