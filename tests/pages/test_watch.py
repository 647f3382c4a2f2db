"""The cluster is read beside the pages: none of them waits for Kafka."""

import time
from threading import Event

from headgate.errors import UnreachableError
from headgate.model.cluster import Cluster
from headgate.ui.shared import cluster_poll
from headgate.ui.shared.cluster_poll import ClusterSnapshot, ClusterWatch
from support.waiting import until

CLUSTER = Cluster(id="c", at="2026-11-21T10:00:00+00:00", bootstrap="b")


def test_the_first_look_waits_a_moment():
    assert ClusterWatch(lambda: CLUSTER).latest() == ClusterSnapshot(CLUSTER)


def test_a_cluster_that_does_not_answer_holds_nobody_up(monkeypatch):
    monkeypatch.setattr(cluster_poll, "PATIENCE", 0.1)
    answers = Event()

    def read():
        answers.wait(20)
        raise UnreachableError("Kafka did not answer")

    looked = ClusterWatch(read)
    begun = time.monotonic()
    assert looked.latest() == ClusterSnapshot()
    assert time.monotonic() - begun < 10
    answers.set()
    until(lambda: looked.latest() != ClusterSnapshot())
    assert looked.latest() == ClusterSnapshot(None, "Kafka did not answer")


def test_a_fresh_look_is_not_taken_again():
    looks = []
    looked = ClusterWatch(lambda: looks.append(1) or CLUSTER)
    for _ in range(5):
        looked.latest()
    assert len(looks) == 1
