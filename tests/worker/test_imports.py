import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "module",
    [
        "headgate.cli.apply",
        "headgate.cli.undo",
        "headgate.usecases.apply_plan",
        "headgate.usecases.list_runs",
        "headgate.worker.main",
    ],
)
def test_dbos_is_loaded_only_by_a_worker_that_holds_its_slot(module):
    code = f"import sys, {module}; sys.exit('dbos' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
