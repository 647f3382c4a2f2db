"""What is wrong with a `[jdbc.NAME]` that a run would write to comes with its remedy."""

import pytest

from headgate.errors import RefusedError
from headgate.gateway.postgres.connect import connection_arguments


def test_another_database_than_postgresql_has_a_remedy():
    with pytest.raises(RefusedError, match=r"Set `url` to jdbc:postgresql://"):
        connection_arguments("shop", {"url": "jdbc:mysql://h/d"})
