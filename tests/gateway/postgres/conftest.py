"""A real PostgreSQL server, and the adapter to the tables of an empty database."""

import pytest

from headgate.gateway.adapters.run_context import RunContext
from headgate.gateway.adapters.tables import TableAdapter
from headgate.model.registered_pipelines import Registry
from support.postgres_server import running_postgres


@pytest.fixture(scope="module")
def server():
    with running_postgres() as made:
        yield made


@pytest.fixture
def database(server):
    name = server.database().rpartition("/")[2]
    with server.connect(name) as connection:
        yield connection


@pytest.fixture
def tables(database, tmp_path):
    url = f"jdbc:postgresql://127.0.0.1:{database.info.port}/{database.info.dbname}?sslmode=prefer"
    registry = Registry(jdbc={"shop": {"url": url, "user": "headgate"}})
    return TableAdapter(RunContext(registry=registry, home=tmp_path))
