"""Every rule about schemas, in the order their findings are shown."""

from __future__ import annotations

from headgate.schemas.rule import Rule
from headgate.schemas.rules.avro import AVRO
from headgate.schemas.rules.formats import FORMATS
from headgate.schemas.rules.json_schema import JSON
from headgate.schemas.rules.pipelines import PIPELINES
from headgate.schemas.rules.protobuf import PROTOBUF

RULES: tuple[Rule, ...] = (*FORMATS, *AVRO, *PROTOBUF, *JSON, *PIPELINES)
