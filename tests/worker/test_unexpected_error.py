"""A defect ends the run and not the worker, and its stack trace is in the log."""

from headgate.worker.dbos_engine import _guarded


def test_an_unexpected_error_says_where_its_stack_trace_is(caplog):
    state, said = _guarded(lambda: 1 / 0)
    assert state == "failed"
    assert said == (
        "unexpected error ZeroDivisionError: division by zero. The worker's log has the stack trace"
    )
    assert "Traceback" in caplog.text
