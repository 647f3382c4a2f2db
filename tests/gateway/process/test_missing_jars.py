"""What fetches jars that are missing: a clone has a Makefile, an installed wheel has none."""

import pytest

from headgate.errors import SetupError, with_next_step
from headgate.gateway.process import jars


@pytest.mark.parametrize(
    ("is_clone", "step"), [(True, "run `make setup`"), (False, "run `headgate up --demo`, which")]
)
def test_the_step_fits_the_installation(tmp_path, monkeypatch, is_clone, step):
    if is_clone:
        (tmp_path / "pyproject.toml").touch()
    monkeypatch.setattr(jars, "_CLONE", tmp_path)
    monkeypatch.setenv(jars.ENVIRONMENT, str(tmp_path / "none"))
    with pytest.raises(SetupError, match=f"^No jars in .*/none/spark: {step}") as error:
        jars.spark_jars()
    assert with_next_step(error.value).endswith("set HEADGATE_JARS to this folder")
