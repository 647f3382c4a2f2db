import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow


@pytest.mark.parametrize(
    "module",
    [
        "headgate.cli.commands.apply",
        "headgate.cli.commands.undo",
        "headgate.usecases.runs.apply_plan",
        "headgate.usecases.runs.list_runs",
        "headgate.worker.main",
    ],
)
def test_dbos_is_loaded_only_by_a_worker_that_holds_its_slot(module):
    code = f"import sys, {module}; sys.exit('dbos' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
