"""What the Compare page says of rehearsing Kafka Streams."""

from __future__ import annotations

import re

from headgate.model.registered_pipelines import Pipeline
from headgate.model.version import Engine
from headgate.ui.rehearsal.panel import command
from pages.test_compare_page import streams as streams
from pages.test_pages import text


def test_without_registered_jars_the_page_shows_the_command_line(open_page, streams):
    at = open_page("compare", pipeline="counts")
    assert not at.exception
    assert "set `old_jar`, `jar` and `entry_point` in headgate.toml" in said(at)
    assert not [b for b in at.button if b.label == "Start twin run"]
    shown = [c.value for c in at.code if c.value.startswith("headgate rehearse")]
    assert shown == [
        "headgate rehearse --state-dir DIR --application-id g --jar NEW.jar --after 'CLASS#method'",
        "headgate rehearse --before-jar OLD.jar --jar NEW.jar --after 'CLASS#method' "
        "--application-id g",
    ]


def said(at):
    return re.sub(r"<span class=\"hg-code\">(.*?)</span>", r"`\1`", text(at))


def test_a_jar_that_is_not_built_is_named(open_page, streams):
    with streams.open("a") as file:
        file.write('jar = "new.jar"\nold_jar = "old.jar"\nentry_point = "Counts#topology"\n')
    at = open_page("compare", pipeline="counts")
    (button,) = [b for b in at.button if b.label == "Start twin run"]
    at = button.click().run()
    while "Cancel rehearsal" in [b.label for b in at.button]:
        at = at.run()
    assert "old.jar doesn't exist: build the jar" in said(at).replace("\\", "")


def test_the_evidence_of_the_pipeline_stands_for_the_old_version():
    pipeline = Pipeline(name="a", engine=Engine.KAFKA_STREAMS, group="g", evidence=("my file.txt",))
    assert command(pipeline).endswith("--before 'my file.txt'")
    assert "--application-id" not in command(None)
