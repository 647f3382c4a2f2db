"""A topic without a schema: the error names the table of headgate.toml as TOML has it."""

import pytest

from headgate.errors import NotFoundError
from headgate.usecases.context import open_context
from headgate.usecases.evidence.topic_schemas import topic_schemas


@pytest.mark.parametrize(
    ("topic", "table"), [("orders", "[topics.orders]"), ("a.b", '[topics."a.b"]')]
)
def test_the_table_of_a_topic_with_a_dot_has_quotes(tmp_path, topic, table):
    (tmp_path / "headgate.toml").write_text("")
    context = open_context(str(tmp_path / "headgate.toml"))
    with pytest.raises(NotFoundError) as raised:
        topic_schemas(context, topic)
    assert f'set schema = "FILE" under {table}, or' in str(raised.value)
