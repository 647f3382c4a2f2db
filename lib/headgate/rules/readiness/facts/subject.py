"""What a readiness rule sees: one version, and what is known of its surroundings."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from headgate.model.activity import Activity
from headgate.model.cluster import Cluster, Group, Topic
from headgate.model.evidence_kinds import LOGS, EvidenceKind
from headgate.model.kafka_streams import StreamsApplication
from headgate.model.progress import BatchProgress
from headgate.model.version import Source, StatefulOperator, Version
from headgate.rules.spark.facts.cluster_offsets import is_its_cluster
from headgate.rules.spark.facts.pinned_settings import effective

_CHECKPOINTS = "spark.sql.streaming.checkpointLocation"
_WITH_SETTINGS = LOGS | {EvidenceKind.SETTINGS}


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """A version and its world; None where nobody looked.

    `checkpoint` is where the registry says that a query keeps its own, `group` the group's or the
    application's id there. `newest` is the newest batch that the query reported. `now` has a zone.
    """

    version: Version
    now: datetime
    cluster: Cluster | None = None
    activity: Activity | None = None
    checkpoint: str | None = None
    group_id: str | None = None
    newest: BatchProgress | None = None

    @property
    def app(self) -> StreamsApplication:
        """The facts of a Kafka Streams application; empty for other engines."""
        return self.version.streams or StreamsApplication()

    @property
    def sources(self) -> tuple[Source, ...]:
        """The sources of a query, none where they are not known."""
        return self.version.sources or ()

    @property
    def stateful(self) -> tuple[StatefulOperator, ...]:
        """The stateful operators of a query, none where they are not known."""
        return self.version.stateful or ()

    @property
    def has_state(self) -> bool:
        """Whether the pipeline is known to keep state."""
        return bool(self.stateful or self.app.stores)

    @property
    def checkpoint_path(self) -> str | None:
        """Where the query's checkpoint is: as registered, as the query says, or by the session."""
        return self.checkpoint or self.version.checkpoint or self.setting(_CHECKPOINTS)

    @property
    def group(self) -> Group | None:
        """The pipeline's group on the cluster, None where there is none or nobody looked."""
        name = self.group_id or self.app.application_id
        return self.cluster.groups.get(name) if self.cluster and name else None

    def config(self, key: str, default: str | None = None) -> str | None:
        """Return an application's setting, the default where it is known that nobody set it.

        None where there is no configuration in the evidence, or the default is none.
        """
        config = self.app.config
        return config.get(key, default) if config else None

    @property
    def settings_known(self) -> bool:
        """Whether evidence has the settings of the query's session."""
        return bool(self.version.settings) or any(
            e.kind in _WITH_SETTINGS for e in self.version.evidence
        )

    def setting(self, key: str) -> str | None:
        """Return a setting of the session, None where nothing says that one was set."""
        return self.version.settings.get(key)

    def in_force(self, key: str) -> str | None:
        """Return what the checkpoint pins, else what the session uses; None where unknown."""
        return self.version.pinned.get(key) or effective(self.version, key)

    def topic(self, name: str | None) -> Topic | None:
        """Return a topic as it is on the cluster, None where it is not there or nobody looked."""
        return self.cluster.topics.get(name) if self.cluster and name else None

    def of_this_cluster(self) -> tuple[Source, ...]:
        """Return the query's Kafka sources, without those that read another cluster than this."""
        found = (x for x in self.sources if x.topics or x.pattern)
        return tuple(x for x in found if self.cluster is None or is_its_cluster(x, self.cluster))

    def inputs(self) -> Iterator[tuple[str, str | None]]:
        """Yield (topic, node) of what is read from outside, by exact names."""
        for source in self.of_this_cluster():
            yield from ((topic, source.node) for topic in source.topics)
        for read in self.app.sources:
            yield from ((topic, read.node) for topic in read.topics)
