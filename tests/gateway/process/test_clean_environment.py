"""Which variables somebody's code gets to see."""

import pytest

from headgate.gateway.process.clean_environment import clean_environment

WITHHELD = """
AWS_ACCESS_KEY_ID AWS_SECRET_ACCESS_KEY AWS_SESSION_TOKEN AWS_PROFILE AZURE_CLIENT_SECRET
GOOGLE_APPLICATION_CREDENTIALS KAFKA_SASL_PASSWORD KAFKA_USERNAME KAFKA_API_KEY GITHUB_TOKEN
MY_PASSWORD DB_PASSWD DB_PASS PGPASSWORD PGPASSFILE SCHEMA_REGISTRY_AUTH client_secret
SSL_KEYSTORE_LOCATION KRB5CCNAME KUBECONFIG SSH_AUTH_SOCK VAULT_ADDR HADOOP_CONF_DIR
YARN_CONF_DIR SPARK_CONF_DIR SPARK_HOME PYSPARK_SUBMIT_ARGS JAVA_TOOL_OPTIONS DATABASE_DSN
AZURE_STORAGE_CONNECTION_STRING NETRC STRIPE_API_KEY KEYTAB_PATH
"""
KEPT = """
PATH HOME JAVA_HOME PYTHONPATH LANG LC_ALL TZ PWD OLDPWD USER TMPDIR VIRTUAL_ENV SHELL TERM
KAFKA_BOOTSTRAP_SERVERS KAFKA_TOPIC KAFKA_BROKERS ENVIRONMENT HEADGATE_JARS PASS_COUNT PAGER
MONKEY
"""


@pytest.mark.parametrize("name", WITHHELD.split())
def test_credentials_are_withheld(name):
    kept, withheld = clean_environment({name: "x"})
    assert withheld == (name,)
    assert kept.get(name) in (None, "/dev/null")


@pytest.mark.parametrize("name", KEPT.split())
def test_the_rest_is_kept(name):
    kept, withheld = clean_environment({name: "x"})
    assert (kept[name], withheld) == ("x", ())


def test_a_url_with_a_password_is_withheld():
    _, withheld = clean_environment({"STORE": "postgresql://me:pw@host/db", "DOCS": "http://x/"})
    assert withheld == ("STORE",)
