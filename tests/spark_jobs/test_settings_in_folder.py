"""Where Spark writes while it reads a version."""

import shlex
from pathlib import Path

from headgate.spark_jobs.capture_query import settings_in


def test_all_that_spark_writes_is_below_the_folder(tmp_path):
    scratch = tmp_path / "a folder"
    found = settings_in(scratch)
    java = shlex.split(found["spark.driver.extraJavaOptions"])
    assert f"-Djava.io.tmpdir={scratch / 'local'}" in java
    assert "-XX:-UsePerfData" in java  # Else Java keeps a file in /tmp.
    assert (scratch / "local").is_dir()
    assert Path(found["spark.local.dir"]) == scratch / "local"
    assert Path(found["spark.sql.warehouse.dir"]).parent == scratch
