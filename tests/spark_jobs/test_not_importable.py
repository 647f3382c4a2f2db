"""A module that Python doesn't find: the error names the folder that has it."""

import pytest

from headgate.errors import CaptureError
from headgate.spark_jobs.own_process import check_importable

GUESS = "If its code is in another folder, set PYTHONPATH to it"


@pytest.mark.parametrize(
    ("file", "said"),
    [
        ("src/shop_of_tests/__init__.py", "in the folder src: set PYTHONPATH=src"),
        ("code/shop_of_tests.py", "in the folder code: set PYTHONPATH=code"),
        ("spread/shop_of_tests/jobs.py", "in the folder spread: set PYTHONPATH=spread"),
        ("sql/shop_of_tests/orders.sql", GUESS),
        (".hidden/shop_of_tests.py", GUESS),
        ("src/other.py", GUESS),
    ],
)
def test_the_folder_that_has_the_module_is_named(file, said, tmp_path, monkeypatch):
    path = tmp_path / file
    path.parent.mkdir(parents=True)
    path.touch()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CaptureError, match="module shop_of_tests can't be imported") as error:
        check_importable("shop_of_tests.jobs:build")
    assert said in str(error.value)
