"""The environment for somebody's code: without credentials, and without the way to clusters."""

from __future__ import annotations

import re
from collections.abc import Mapping

_WITHHELD = re.compile(
    r"^(?:AWS|AZURE|ARM|GCP|GOOGLE|GCLOUD|CLOUDSDK|BOTO|VAULT|KUBE|KUBERNETES|DOCKER|DATABRICKS"
    r"|SNOWFLAKE|KRB5|SSH|GPG|PG|MYSQL|REDIS|MONGO|HADOOP|YARN|HIVE|SPARK|PYSPARK|DBT)(?:_|[A-Z]+$)"
    r"|TOKEN|PASSW|PASSPHRASE|SECRET|CREDENTIAL|JAAS|SASL|APIKEY"
    r"|(?:API|ACCESS|PRIVATE|SIGNING|ENCRYPTION|ACCOUNT|STORAGE|SHARED|SSL|CLIENT)_?KEY"
    r"|KEYSTORE|TRUSTSTORE|KEYTAB|NETRC|_PWD$|_PASS$|_AUTH$|_DSN$|CONNECTION_STRING"
    r"|^JAVA_TOOL_OPTIONS$|^JDK_JAVA_OPTIONS$|^_JAVA_OPTIONS$"
    r"|^KAFKA_(?!BOOTSTRAP|BROKER|TOPIC)",
    re.IGNORECASE,
)
_URL_WITH_PASSWORD = re.compile(r"\w://[^/\s:@]*:[^/\s@]+@")
# Where clients look by themselves, home and metadata services included.
_NOWHERE = {
    "AWS_SHARED_CREDENTIALS_FILE": "/dev/null",
    "AWS_CONFIG_FILE": "/dev/null",
    "AWS_EC2_METADATA_DISABLED": "true",
}


def clean_environment(env: Mapping[str, str]) -> tuple[dict[str, str], tuple[str, ...]]:
    """Return the variables to keep, and the names of those that were left out.

    Left out is what by its name is a credential or points to a production cluster, and every URL
    with a password in it.
    """
    withheld = tuple(
        sorted(k for k, v in env.items() if _WITHHELD.search(k) or _URL_WITH_PASSWORD.search(v))
    )
    kept = {k: v for k, v in env.items() if k not in withheld}
    return kept | _NOWHERE, withheld
