"""The keys of `headgate.toml`: what the decoder allows in each table, and what the docs say.

`scripts/configuration_page.py` writes the tables of docs/reference/configuration.md from here.
tests/docs/test_configuration_page.py holds type, need and default of each key to the decoder.
"""

from __future__ import annotations

from typing import Final, NamedTuple


class Key(NamedTuple):
    """A key of a table.

    `kind` is the TOML type in words. `needed` is empty for an optional key, "yes" for one that is
    always required, else the pipelines that need it. `default` is the TOML value that a missing
    key stands for, empty if a missing key means that nothing is set.
    """

    name: str
    kind: str
    meaning: str
    needed: str = ""
    default: str = ""


_TEXT, _TEXTS, _FLAG, _DAY, _TABLE = "string", "array of strings", "boolean", "date", "table"
_TIME, _SIZE, _SCALAR = "duration", "size", "string, number or boolean"
_COMMAND, _BODY, _CODES = "string or table", "string or table", "integer or array of integers"
_SECONDS = "number of seconds"

_REQUEST: Final = (
    Key("url", _TEXT, "The address to call, `http://` or `https://`.", needed="yes"),
    Key("method", _TEXT, "`GET`, `POST`, `PUT`, `PATCH` or `DELETE`.", default='"GET"'),
    Key("headers", _TABLE, "Names and values of HTTP headers. Write a secret as `${NAME}`."),
    Key("body", _BODY, "The content of the request. A table is sent as JSON."),
    Key(
        *("expect", _CODES, "HTTP status codes that mean success."),
        default="[200, 201, 202, 204]",
    ),
    Key("ca", _TEXT, "File with trusted CA certificates."),
    Key("seconds", _SECONDS, "Timeout for the response.", default="30"),
)
_FIND: Final = Key("find", _TABLE, "A call before the command. Its value replaces `{found}`.")
_PATH: Final = Key("path", _TEXT, "Path of the value in the JSON response.", needed="yes")
_ENDPOINT: Final = Key("endpoint", _SCALAR, "Address of the service, if it isn't the vendor's.")
_ANONYMOUS: Final = Key("anonymous", _SCALAR, "`true`: read without credentials.")
_TIMEOUT: Final = Key("timeout", _SCALAR, "Timeout for one answer in seconds (15 if not set).")

# Each table by its heading, in the order of the docs. `NAME` is a name of the user's own.
KEYS: Final[dict[str, tuple[Key, ...]]] = {
    "[kafka]": (
        Key("bootstrap_servers", _TEXT, "Addresses of the brokers, `HOST:PORT,...`."),
        Key("config", _TABLE, "Settings of the Kafka client (librdkafka), passed unchanged."),
    ),
    "[[pipeline]]": (
        Key(
            *("name", _TEXT, "Unique. Letters, digits, `_`, `-`, `.` and spaces."),
            needed="yes",
        ),
        Key("engine", _TEXT, "`spark`, `kafka-streams` or `consumer-group`.", needed="yes"),
        Key("owner", _TEXT, "Owner that the console shows."),
        Key("description", _TEXT, "Description that the console shows."),
        Key(
            *("checkpoint", _TEXT, "Spark: the folder or address of the checkpoint."),
            needed="Spark, without `evidence` and `watch`",
        ),
        Key(
            "group",
            _TEXT,
            "Kafka Streams: the application id. Consumer group: the group id.",
            needed="Kafka Streams, consumer group",
        ),
        Key("topics", _TEXTS, "Topics that the pipeline reads."),
        Key(
            "entry_point",
            _TEXT,
            "Spark: the function that builds the query, as `module:function`. Headgate calls the "
            "function as `function(spark)`. Kafka Streams: the static method in `jar` that "
            "returns the topology, as `CLASS#method`.",
        ),
        Key(
            "evidence",
            _TEXTS,
            "Paths or addresses of other [evidence](evidence.md) than the checkpoint, for example "
            "explain text.",
        ),
        Key(
            "watch",
            _TEXT,
            "Spark: the folder, URI or `kafka:TOPIC` that [`headgate.watch`](../guides/watch.md) "
            "writes to.",
        ),
        Key(
            "inputs",
            _TEXTS,
            'Glob patterns of other files that belong to the pipeline, such as `["sql/*.sql"]`, '
            "for [`headgate gate`](../guides/gate.md). If none of the pipeline's files are in "
            "this repository, set `[]`.",
        ),
        Key("jar", _TEXT, "Kafka Streams: the application's jar."),
        Key(
            "old_jar",
            _TEXT,
            "Kafka Streams: the jar of the running version. With `jar` and `entry_point`, the "
            "Compare page offers a [twin run](../guides/twin-run.md#kafka-streams) of both jars.",
        ),
        Key(
            "properties",
            _TEXT,
            "Kafka Streams: the properties file with the application's settings.",
        ),
        Key(
            "records",
            _TEXT,
            "Kafka Streams: a file of sample records. "
            "[`headgate gate`](../guides/gate.md#kafka-streams-with-both-jars) and the Compare "
            "page use their keys and values in twin runs.",
        ),
        Key(
            "effects",
            _TEXT,
            "What the code does outside of Kafka and its sink, such as HTTP calls. `external`: "
            "plans warn that reprocessing repeats these effects. `idempotent`: repeating the "
            "effects changes nothing, so plans don't warn.",
        ),
        Key("query", _TEXT, "Spark: name or id of the query, if the evidence has several queries."),
        Key(
            "restore_points",
            "`false` or table",
            "Restore points of this pipeline. `false` turns them off. A table overrides keys of "
            "[`[restore_points]`](#restore_points).",
        ),
        Key(
            "commands",
            _TABLE,
            "How to stop, start and check the pipeline: see [below](#pipelinecommands).",
        ),
    ),
    "[pipeline.commands]": (
        Key("stop", _COMMAND, "Stop the pipeline's processes."),
        Key("start", _COMMAND, "Start the pipeline's processes."),
        Key(
            "status",
            _COMMAND,
            "Report the pipeline's status by its exit code: 0 = running, 3 = stopped, 4 = paused, "
            "any other code = unknown. Can't be a manual step.",
        ),
        Key("clean", _COMMAND, "Delete the local state of a Kafka Streams application."),
        Key(
            "suspend",
            _COMMAND,
            "Prevent an orchestrator such as Kubernetes from restarting the pipeline. Needs "
            "`reenable`.",
        ),
        Key("reenable", _COMMAND, "Allow the orchestrator to restart the pipeline again."),
        Key(
            "pause",
            _COMMAND,
            "Pause processing without stopping the processes. Needs `resume`.",
        ),
        Key("resume", _COMMAND, "Resume processing."),
        Key("notify", _COMMAND, "Send a message to people. Can't be a manual step."),
        Key("deploy", _COMMAND, "Deploy the code of the next version. Needs `rollback`."),
        Key("rollback", _COMMAND, "Roll back to the code of the previous version."),
    ),
    "[pipeline.commands.NAME]": (
        *(k if k.name != "method" else k._replace(default='"POST"') for k in _REQUEST),
        _FIND,
        Key(
            "answer",
            _TEXT,
            "Path in the response of the command. Its value replaces `{answer}` in the `wait` "
            "call.",
        ),
        Key(
            "wait",
            _TABLE,
            "A call that Headgate repeats after the command, until the command has succeeded or "
            "failed.",
        ),
    ),
    "[pipeline.commands.status]": (
        *(*_REQUEST, _FIND, _PATH),
        Key("runs", _TEXTS, "Values that mean running. `*`: any value in no other list."),
        Key("stopped", _TEXTS, "Values that mean stopped."),
        Key("paused", _TEXTS, "Values that mean paused."),
        Key(
            "absent",
            _TEXT,
            "The status if the response has no value at `path`: `runs`, `stopped` or `paused`.",
        ),
        Key(
            "codes",
            _TABLE,
            'The status by HTTP status code, for example `{ 404 = "stopped" }`.',
        ),
    ),
    "[pipeline.commands.NAME.find]": (*_REQUEST, _PATH),
    "[pipeline.commands.NAME.wait]": (
        *(*_REQUEST, _PATH),
        Key("done", _TEXTS, "Values that mean success.", needed="yes"),
        Key("failed", _TEXTS, "Values that mean failure."),
        Key("every", _SECONDS, "Interval between two calls.", default="2"),
        Key("within", _SECONDS, "Time limit for the result.", default="300"),
    ),
    "[restore_points]": (
        Key(
            "every",
            _TIME,
            "Time between two restore points of a pipeline, for example `1h` or `15 minutes`.",
            needed="yes",
        ),
        Key(
            "keep",
            _TIME,
            "How long restore points are kept. The newest restore point is always kept.",
            default='"7 days"',
        ),
        Key(
            "max_size",
            _SIZE,
            "Limit of the disk space of one pipeline's restore points.",
            default='"100 GB"',
        ),
    ),
    "[[accept]]": (
        Key("rule", _TEXT, "The code of the rule.", needed="yes"),
        Key("reason", _TEXT, "Why the finding is acceptable.", needed="yes"),
        Key(
            "until",
            _DAY,
            "The last day on which the finding is accepted, for example `2026-12-31`.",
            needed="yes",
        ),
        Key("pipeline", _TEXT, "Accept the finding only for this pipeline."),
        Key(
            "where",
            _TEXT,
            "Accept the finding only for this node id, label or operator. For a finding about a "
            "schema: only for this field path, topic or subject.",
        ),
    ),
    "[store]": (
        Key(
            "url",
            _TEXT,
            "Database of the store: SQLite or PostgreSQL. If not set: SQLite in "
            "`.headgate/headgate.db` next to `headgate.toml`.",
        ),
    ),
    "[runs]": (
        Key(
            "keep_snapshots",
            _TIME,
            "How long Headgate keeps [snapshots](../guides/snapshots.md) after a run.",
            default='"14 days"',
        ),
    ),
    "[spark]": (
        Key(
            "master",
            _TEXT,
            "Spark master on which runs process data. With another master than the default, "
            "Headgate uses `spark-submit` in client mode. A Spark Connect address (`sc://`) isn't "
            "possible.",
            default='"local[*]"',
        ),
        Key(
            "config",
            _TABLE,
            'Spark settings of these runs, for example `"spark.driver.memory" = "4g"`.',
        ),
    ),
    "[gate]": (
        Key(
            "requirements",
            _TEXT,
            "File with the packages of the pipelines' code, for "
            "[`headgate gate`](../guides/gate.md). If not set: `requirements.txt` next to "
            "`headgate.toml`.",
        ),
    ),
    "[docs]": (
        Key("rules_url", _TEXT, "URL of the folder with the rule pages. Reports link to them."),
    ),
    "[console]": (
        Key(
            "allowed_hosts",
            _TEXTS,
            "More hosts that the console may read evidence from, as `HOST` or `HOST:PORT` "
            "([Security](../operate/security.md)).",
        ),
        Key(
            "metrics",
            _FLAG,
            "`true`: the console serves Streamlit's own metrics, such as sessions and cache "
            "memory, at `/_stcore/metrics`.",
            default="false",
        ),
        Key(
            "outputs",
            _TEXTS,
            "Outputs that the *Outputs* page may read: folders, and patterns such as "
            "`kafka:totals-*` or `jdbc:shop.public.*` "
            "([guide](../guides/compare-output.md#on-the-console)).",
        ),
    ),
    "[jdbc.NAME]": (
        Key("url", _TEXT, "Address of the database, `jdbc:postgresql://...`.", needed="yes"),
        Key("user", _TEXT, "User of the database."),
        Key("password", _TEXT, "Password of the user, as `${NAME}`."),
    ),
    "[schema_registry]": (
        Key("url", _TEXT, "Address of the [schema registry](../guides/schemas.md).", needed="yes"),
        Key("config", _TABLE, "Settings of the registry's client, passed unchanged."),
    ),
    "[topics.NAME]": (
        Key("schema", _TEXT, "File with the [schema](../guides/schemas.md) of the topic's values."),
        Key("key_schema", _TEXT, "File with the schema of the topic's keys."),
        Key("subject", _TEXT, "Subject of the values, if it isn't `NAME-value`."),
        Key("key_subject", _TEXT, "Subject of the keys, if it isn't `NAME-key`."),
    ),
    "[file_systems.s3]": (
        _ENDPOINT,
        Key("region", _SCALAR, "Region of the bucket."),
        Key("access_key", _SCALAR, "Access key. Needs `secret_key`."),
        Key("secret_key", _SCALAR, "Secret key. Needs `access_key`."),
        Key("session_token", _SCALAR, "Session token of temporary credentials."),
        *(_ANONYMOUS, _TIMEOUT),
    ),
    "[file_systems.abfs]": (
        _ENDPOINT,
        Key("account_key", _SCALAR, "Key of the storage account."),
        Key("sas_token", _SCALAR, "Shared access signature. Used instead of `account_key`."),
        _TIMEOUT,
    ),
    "[file_systems.gs]": (_ENDPOINT, _ANONYMOUS, _TIMEOUT),
    "[file_systems.hdfs]": (
        Key("user", _SCALAR, "User name for HDFS."),
        Key("config_dir", _SCALAR, "Folder with `core-site.xml` and `hdfs-site.xml`."),
        _TIMEOUT,
    ),
}


def names(heading: str) -> tuple[str, ...]:
    """Return the keys of the table with this heading in KEYS."""
    return tuple(key.name for key in KEYS[heading])


# The keys of the file itself: the first word of each heading.
TOP: Final = tuple(dict.fromkeys(heading.strip("[]").split(".")[0] for heading in KEYS))
FILE_SYSTEMS: Final = {
    heading.strip("[]").split(".")[1]: names(heading)
    for heading in KEYS
    if heading.startswith("[file_systems.")
}
