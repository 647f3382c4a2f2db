"""What the Compare page says of rehearsing Kafka Streams."""

from __future__ import annotations

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.ui.rehearsal.panel import command
from pages.test_compare_page import streams as streams
from pages.test_pages import text


def test_the_page_shows_the_command_line_and_starts_no_jar(open_page, streams):
    at = open_page("compare", pipeline="counts")
    assert not at.exception
    assert "start jars" in text(at)
    shown = [c.value for c in at.code if c.value.startswith("headgate rehearse")]
    assert shown == [
        "headgate rehearse --state-dir DIR --application-id g --jar NEW.jar --after 'CLASS#method'",
        "headgate rehearse --before-jar OLD.jar --jar NEW.jar --after 'CLASS#method' "
        "--application-id g",
    ]


def test_the_evidence_of_the_pipeline_stands_for_the_old_version():
    pipeline = Pipeline(name="a", engine=Engine.KAFKA_STREAMS, group="g", evidence=("my file.txt",))
    assert command(pipeline).endswith("--before 'my file.txt'")
    assert "--application-id" not in command(None)
