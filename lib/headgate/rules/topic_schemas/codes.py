"""Every rule about schemas, in the order their findings are shown."""

from __future__ import annotations

from headgate.rules.topic_schemas.avro import AVRO
from headgate.rules.topic_schemas.consumers import PIPELINES
from headgate.rules.topic_schemas.facts.rule import SchemaRule
from headgate.rules.topic_schemas.formats import FORMATS
from headgate.rules.topic_schemas.json_schema import JSON
from headgate.rules.topic_schemas.protobuf import PROTOBUF

RULES: tuple[SchemaRule, ...] = (*FORMATS, *AVRO, *PROTOBUF, *JSON, *PIPELINES)
