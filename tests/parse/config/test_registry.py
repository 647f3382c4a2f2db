"""`headgate.toml`: what it declares, and the line and reason of everything that is wrong in it."""

import pytest

from headgate.errors import RegistryError
from headgate.model.registered_pipelines import Commands, Effects, SparkSettings
from headgate.model.version import Engine
from headgate.parse.config.headgate_toml import parse

FULL = """\
[kafka]
bootstrap_servers = "${HOST}:9092"
[kafka.config]
"security.protocol" = "SASL_SSL"
sasl.password = "${PASSWORD}"
"sasl.mechanism" = "$${kept}"
"socket.keepalive.enable" = true
"request.timeout.ms" = 5000

[store]
url = "sqlite:///.headgate/headgate.db?timeout=5"

[[pipeline]]
name = "orders by city"
engine = "spark"
owner = "sales"
description = "Enrich and count"
checkpoint = "ck/../ck/orders"
entry_point = "jobs.orders:query"
evidence = ["explain.txt", "s3a://bucket/plan"]
[pipeline.commands]
stop = "kill $(cat pid)"
start = "./start"
status = "./status"

[[pipeline]]
name = "billing"
engine = "consumer-group"
group = "billing-1"
topics = ["orders"]

[[pipeline]]
name = "ledger_2"
engine = "kafka-streams"
group = "ledger"
"""


def read(text, **env):
    return parse(text, path="/team/headgate.toml", source="headgate.toml", env=env)


def test_a_full_file():
    registry = read(FULL, HOST="broker", PASSWORD="top\\secret")
    assert registry.path == "/team/headgate.toml"
    assert registry.bootstrap_servers == "broker:9092"
    assert registry.kafka == {
        "security.protocol": "SASL_SSL",
        "sasl.password": "top\\secret",
        "sasl.mechanism": "${kept}",
        "socket.keepalive.enable": "true",
        "request.timeout.ms": "5000",
    }
    assert registry.store_url == "sqlite:////team/.headgate/headgate.db?timeout=5"
    orders, billing, ledger = registry.pipelines
    assert (orders.name, orders.engine, orders.owner) == ("orders by city", Engine.SPARK, "sales")
    assert (orders.checkpoint, orders.line) == ("/team/ck/orders", 13)
    assert orders.evidence == ("/team/explain.txt", "s3a://bucket/plan")
    assert orders.commands == Commands(stop="kill $(cat pid)", start="./start", status="./status")
    assert (billing.group, billing.topics) == ("billing-1", ("orders",))
    assert (ledger.engine, ledger.commands) == (Engine.KAFKA_STREAMS, Commands())


@pytest.mark.parametrize(
    ("url", "resolved"),
    [
        ("sqlite:////var/h.db", "sqlite:////var/h.db"),
        ("sqlite+pysqlite:///h.db", "sqlite+pysqlite:////team/h.db"),
        ("postgresql+psycopg://u:p@host/db", "postgresql+psycopg://u:p@host/db"),
    ],
)
def test_a_store_url_is_relative_to_the_file(url, resolved):
    assert read(f'[store]\nurl = "{url}"').store_url == resolved


@pytest.mark.parametrize("location", ["file:///ck", "s3a://b/ck", "hdfs:/ck", "/ck"])
def test_an_absolute_checkpoint_stays_as_it_is(location):
    text = f'[[pipeline]]\nname="a"\nengine="spark"\ncheckpoint="{location}"'
    assert read(text).pipelines[0].checkpoint == location


def test_an_empty_file_declares_nothing():
    assert read("").pipelines == ()


SPARK = '[[pipeline]]\nname = "a"\nengine = "spark"\ncheckpoint = "/ck"\n'
WRONG = [
    ("[kafka\n", 1, "expected ']'"),
    ("\n\nname = \n", 3, "invalid value"),
    ("a = 1\na = 2\n", 2, "cannot overwrite a value"),
    ('a = """\nb\n', 2, "unterminated string"),
    ("\n[kafak]\n", 2, "unknown key 'kafak' in headgate.toml, did you mean 'kafka'?"),
    ("zzz = 1", 1, "use one of kafka, pipeline, restore_points"),
    ('[kafka]\nbootstrap-server = "x"', 2, "did you mean 'bootstrap_servers'?"),
    ('[kafka]\nbootstrap_servers = ["x"]', 2, "must be a string, found an array"),
    ('[kafka]\nbootstrap_servers = " "', 2, "is empty"),
    ("kafka = 3", 1, "'kafka' must be a table ([kafka]), found a number"),
    ('[kafka.config]\n"bootstrap.servers" = "x"', 2, "`bootstrap_servers` under [kafka]"),
    ('[kafka.config]\na.b = "${NOPE}"', 2, "uses the environment variable NOPE, which is not set"),
    ('[kafka.config]\na = "x"\nb = ["x"]', 3, "'b' must be a string or a number, found an array"),
    ('[store]\nurl = "headgate.db"', 2, "must be a database URL"),
    ('[store]\nurl = "sqlite://"', 2, "would not survive a restart"),
    ('[store]\nurl = "sqlite:///:memory:"', 2, "would not survive a restart"),
    ('[pipeline]\nname = "a"', 1, "needs the heading [[pipeline]] for each entry, found a table"),
    ('\n[pipeline.a]\nengine = "spark"', 2, "'pipeline' needs the heading [[pipeline]]"),
    ('pipeline = [\n{name="a"},\n 3]', 2, "[[pipeline]] needs 'engine'"),
    ("pipeline = [\n\n 3]", 3, "must contain only tables, found a number"),
    (SPARK + "\n[[pipeline]]\n\n", 6, "[[pipeline]] needs `name`"),
    (SPARK + 'name2 = "b"', 5, "did you mean 'name'?"),
    (SPARK + 'check_point = "b"', 5, "did you mean 'checkpoint'?"),
    (SPARK + '"entry-point" = "b"', 5, "did you mean 'entry_point'?"),
    (SPARK + "\n" + SPARK, 7, "pipeline 'a' is already defined on line 2"),
    (SPARK.replace('"a"', '"a@2"'), 2, "NAME@N means version N of a pipeline"),
    (SPARK.replace('"a"', '"a:b"'), 2, "'a:b' isn't a valid name"),
    (SPARK.replace('"a"', '"x/a"'), 2, "'x/a' isn't a valid name"),
    (SPARK.replace('"a"', '".."'), 2, "'..' isn't a valid name"),
    (SPARK.replace('"a"', '"-a"'), 2, "'-a' isn't a valid name"),
    (SPARK.replace('"a"', '"a "'), 2, "'a ' isn't a valid name"),
    (SPARK.replace('"a"', '"a."'), 2, "or end with '.' or a space"),
    ('[jdbc.shop]\nuser = "u"', 1, "[jdbc.shop] needs `url`, such as jdbc:postgresql:"),
    ('[jdbc.shop]\nurl = "postgresql://h/d"', 2, "needs a `url` that starts with jdbc:, such as"),
    (SPARK.replace('"a"', "3"), 2, "'name' must be a string, found a number"),
    (SPARK.replace('"spark"', '"sprak"'), 3, "unknown engine 'sprak', did you mean 'spark'?"),
    (SPARK.replace('"spark"', '"flink"'), 3, "use one of spark, kafka-streams, consumer-group"),
    (SPARK.replace('checkpoint = "/ck"', ""), 1, "pipeline 'a' needs `checkpoint`"),
    ('[[pipeline]]\nname="a"\nengine="consumer-group"', 1, "`group`: the id of the consumer group"),
    ('[[pipeline]]\nname="a"\nengine="kafka-streams"', 1, "`group`: the application id"),
    (SPARK + 'entry_point = "orders.py"', 5, "must be module:function, found 'orders.py'"),
    (SPARK + 'topics = "orders"', 5, "must be an array of strings, found a string"),
    (SPARK + 'topics = [\n"orders",\n\n1]', 8, "found a number"),
    (SPARK + 'evidence = [\n"",]', 6, "found an empty string"),
    (SPARK + "[pipeline.commands]\nstopp = 'x'", 6, "did you mean 'stop'?"),
    (SPARK + "commands = {\tstop = 'x', start = true }", 5, "found true or false"),
    (SPARK + "commands = 1979-05-27", 5, "found a date or a time"),
    (
        SPARK + 'effects = "idempotant"',
        5,
        "unknown effects 'idempotant', did you mean 'idempotent'?",
    ),
    (SPARK + "effects = true", 5, "must be a string"),
    ('[jdbc.shop]\nurl = "postgresql://h"', 2, "such as jdbc:postgresql://HOST/DATABASE"),
    ('[jdbc.shop]\nuser = "u"', 1, "needs `url`"),
    ('[jdbc.shop]\nurl = "jdbc:x:y"\npasword = "p"', 3, "did you mean 'password'?"),
    ('[console]\noutputs = "results"', 2, "must be an array of strings, found a string"),
]


@pytest.mark.parametrize("named", ['evidence = ["plan.txt"]', 'watch = "watch"'])
def test_a_spark_pipeline_without_a_checkpoint_needs_something_else_that_tells_of_it(named):
    (found,) = read(SPARK.replace('checkpoint = "ck"', named)).pipelines
    assert found.checkpoint is None


@pytest.mark.parametrize(("text", "line", "reason"), WRONG, ids=range(len(WRONG)))
def test_everything_wrong_has_its_line_and_reason(text, line, reason):
    with pytest.raises(RegistryError) as caught:
        read(text)
    assert str(caught.value).startswith(f"headgate.toml:{line}: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "config",
    [
        "password = ['hunter2']",
        "password = 'hunter2 ${NOPE}'",
        "password = { a = ['hunter2'] }",
        "password = 'hunter2\nb = 1",
        "password = hunter2",
        "password = 'hunter2'\npassword = 'hunter2'",
        "bootstrap.servers = 'hunter2'",
    ],
)
def test_no_error_shows_a_setting_of_kafka(config):
    with pytest.raises(RegistryError) as caught:
        read(f"[kafka.config]\n{config}")
    assert "hunter2" not in str(caught.value)


SPARK = '[[pipeline]]\nname = "a"\nengine = "spark"\ncheckpoint = "ck"\n'
GROUP = '[[pipeline]]\nname = "a"\nengine = "consumer-group"\ngroup = "g"\n'


@pytest.mark.parametrize(
    ("written", "read_as"),
    [("watch", "/team/watch"), ("kafka:my-topic", "kafka:my-topic"), ("s3://b/w", "s3://b/w")],
)
def test_a_watch_is_a_folder_of_the_file_a_uri_or_a_topic(written, read_as):
    (pipeline,) = read(f'{SPARK}watch = "{written}"\nquery = "orders"\n').pipelines
    assert (pipeline.watch, pipeline.query) == (read_as, "orders")


@pytest.mark.parametrize(
    ("text", "line", "says"),
    [
        (f'{SPARK}watch = "kafka:"\n', 5, "must be kafka:TOPIC with a valid topic name"),
        (f'{SPARK}watch = "kafka:a b"\n', 5, "must be kafka:TOPIC with a valid topic name"),
        (f'{GROUP}watch = "w"\n', 5, "only for Spark queries, but `engine` is consumer-group"),
        (f'{GROUP}query = "q"\n', 5, "`query` is only for Spark queries, but `engine` is"),
        (f"{SPARK}watch = 1\n", 5, "'watch' must be a string"),
    ],
)
def test_a_wrong_watch_is_said_at_its_line(text, line, says):
    with pytest.raises(RegistryError, match=says) as caught:
        read(text)
    assert caught.value.line == line


def test_spark_runs_locally_unless_a_master_and_settings_are_given():
    assert read(GROUP).spark == SparkSettings(master="local[*]", config={})
    text = '[spark]\nmaster = "spark://h:7077"\n[spark.config]\n"spark.jars" = "${JAR}"\n'
    found = parse(text, path="/team/headgate.toml", env={"JAR": "/j.jar"}).spark
    assert found == SparkSettings(master="spark://h:7077", config={"spark.jars": "/j.jar"})
    assert "j.jar" not in repr(found)


def test_a_master_among_the_settings_is_said_at_its_line():
    with pytest.raises(RegistryError, match="set `master` under") as caught:
        read('[spark.config]\n"spark.master" = "local"\n')
    assert caught.value.line == 2


def test_a_spark_connect_address_is_no_master():
    with pytest.raises(RegistryError, match="can't be a Spark Connect address") as caught:
        read('[spark]\nmaster = "sc://h:15002"\n')
    assert caught.value.line == 2


def test_what_the_code_does_outside_of_kafka_is_declared():
    assert read(SPARK).pipelines[0].effects is None
    assert read(SPARK + 'effects = "external"').pipelines[0].effects is Effects.EXTERNAL


def test_databases_have_a_connection_and_a_password_that_is_not_shown():
    text = '[jdbc.shop]\nurl = "jdbc:postgresql://h/shop"\nuser = "u"\npassword = "${SECRET}"\n'
    found = parse(text, path="/team/headgate.toml", env={"SECRET": "s3cr3t"})
    assert found.jdbc == {
        "shop": {"url": "jdbc:postgresql://h/shop", "user": "u", "password": "s3cr3t"}
    }
    assert "s3cr3t" not in repr(found)


def test_outputs_of_the_console_are_folders_of_the_file_and_addresses():
    text = '[console]\noutputs = ["results", "/data/x", "kafka:orders-*", "jdbc:shop.totals"]\n'
    assert read(text).console_outputs == (
        *("/team/results", "/data/x", "kafka:orders-*", "jdbc:shop.totals"),
    )


def test_a_syntax_error_says_what_to_do():
    with pytest.raises(RegistryError, match=r":1: not valid TOML.*\. Correct this line$"):
        parse("[kafka\n", path="headgate.toml", env={})
