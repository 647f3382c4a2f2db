"""A real HTTP server that behaves as the job services of docs/commands.md do, with one job each."""

from __future__ import annotations

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TOKEN = "s3cret-token-of-tests"


class Jobs:
    """The state behind the server; `starts` counts what was started, `calls` what was asked."""

    def __init__(self) -> None:
        self.runs = True
        self.suspended = False
        self.starts = 0
        self.starting = 0
        self.calls: list[tuple[str, str, str]] = []
        self.answers: dict[str, tuple[int, bytes]] = {}
        self.lock = threading.Lock()

    def start(self) -> None:
        self.runs, self.starting = True, 2
        self.starts += 1

    def stop(self) -> None:
        self.runs = False

    def look(self) -> str:
        """What a service says of a run that was just started: not yet, not yet, now."""
        if self.starting:
            self.starting -= 1
            return "PENDING"
        return "RUNNING" if self.runs else "TERMINATED"

    def answer(self, method: str, path: str, query: dict, headers, body: str):
        """Return status and JSON."""
        for prefix, (code, data) in self.answers.items():
            if path.startswith(prefix):
                return code, data
        open_to_all = path.startswith(("/batches", "/v1/submissions", "/json"))
        if not open_to_all and headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"said": headers.get("Authorization")}
        name = {"/api/2.2": "databricks", "/apis": "kubernetes", "/api/v2": "airflow"}
        for prefix, service in name.items():
            if path.startswith(prefix):
                return getattr(self, service)(method, path, query, headers, body)
        if path.startswith("/batches"):
            return self.livy(method, path, body)
        return self.spark(method, path, body)

    def databricks(self, method, path, query, headers, body):
        given = json.loads(body) if body else {}
        match path.removeprefix("/api/2.2/jobs/"):
            case "runs/cancel-all":
                assert given == {"job_id": 7}
                self.stop()
            case "run-now":
                assert given["idempotency_token"] == "r1"
                self.start()
                return 200, {"run_id": 455, "number_in_job": 455}
            case "runs/get":
                assert query["run_id"] == ["455"]
                return 200, {"state": {"life_cycle_state": self.look()}}
            case "runs/list":
                assert query == {"job_id": ["7"], "active_only": ["true"]}
                run = {"run_id": 455, "state": {"life_cycle_state": "RUNNING"}}
                return 200, {"runs": [run], "has_more": False} if self.runs else {"has_more": False}
            case "update":
                paused = given["new_settings"]["continuous"]["pause_status"]
                self.suspended = paused == "PAUSED"
        return 200, {}

    def kubernetes(self, method, path, query, headers, body):
        assert path.startswith("/apis/apps/v1/namespaces/data/deployments/orders")
        if method == "GET":
            status = {"replicas": 2, "readyReplicas": 2} if self.runs else {}
            return 200, {"kind": "Deployment", "status": {"observedGeneration": 4, **status}}
        assert (method, headers["Content-Type"]) == ("PATCH", "application/merge-patch+json")
        replicas = json.loads(body)["spec"]["replicas"]
        self.start() if replicas else self.stop()
        return 200, {"kind": "Scale", "spec": {"replicas": replicas}}

    def airflow(self, method, path, query, headers, body):
        given = json.loads(body) if body else {}
        match method, path.removeprefix("/api/v2/dags/orders"):
            case "PATCH", "":
                self.suspended = given["is_paused"]
            case "GET", "/dagRuns":
                assert set(query["state"]) <= {"queued", "running"}
                found = [{"dag_run_id": "manual__2026", "state": "running"}] if self.runs else []
                return 200, {"dag_runs": found, "total_entries": len(found)}
            case "PATCH", "/dagRuns/manual__2026":
                assert given == {"state": "failed"}
                self.stop()
            case "POST", "/dagRuns":
                if self.runs:
                    return 409, {"detail": "already exists"}
                assert given == {"dag_run_id": "headgate-r1", "logical_date": None}
                self.start()
            case _:
                return 404, {"detail": path}
        return 200, given

    def livy(self, method, path, body):
        if method == "POST":
            assert json.loads(body) == {"name": "orders", "file": "s3://jobs/orders.py"}
            self.start()
            return 201, {"id": 12, "state": "starting"}
        if method == "DELETE":
            assert path == "/batches/12"
            self.stop()
            return 200, {"msg": "deleted"}
        if path == "/batches/12/state":
            return 200, {"id": 12, "state": self.look().lower()}
        old = {"id": 3, "name": "orders", "state": "dead"}
        other = {"id": 11, "name": "billing", "state": "running"}
        mine = {"id": 12, "name": "orders", "state": "running"}
        sessions = [old, other, *([mine] if self.runs else [])]
        return 200, {"from": 0, "total": len(sessions), "sessions": sessions}

    def spark(self, method, path, body):
        driver = "driver-20261121100000-0007"
        if path == "/json/":
            mine = {"id": driver, "state": "RUNNING", "mainclass": "com.example.Orders"}
            other = {"id": "driver-1", "state": "RUNNING", "mainclass": "com.example.Else"}
            return 200, {
                "status": "ALIVE",
                "activedrivers": [other, *([mine] if self.runs else [])],
            }
        match method, path.removeprefix("/v1/submissions/"):
            case "POST", "create":
                assert json.loads(body)["sparkProperties"]["spark.app.name"] == "orders"
                self.start()
                return 200, {"submissionId": driver, "success": True}
            case "POST", kill if kill == f"kill/{driver}":
                self.stop()
                return 200, {"submissionId": driver, "success": True}
            case "GET", status if status == f"status/{driver}":
                said = {"PENDING": "SUBMITTED", "TERMINATED": "KILLED"}
                state = self.look()
                return 200, {"driverState": said.get(state, state), "success": True}
        return 404, {"message": path}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def handle_any(self) -> None:
        parts = urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0)).decode()
        server: Any = self.server
        jobs = server.jobs
        with jobs.lock:
            jobs.calls.append((self.command, self.path, body))
            code, found = jobs.answer(
                self.command, parts.path, parse_qs(parts.query), self.headers, body
            )
        data = found if isinstance(found, bytes) else json.dumps(found).encode()
        self.send_response(code)
        if code in (301, 302):
            self.send_header("Location", "/elsewhere")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = handle_any

    def log_message(self, *_args) -> None:
        """Nothing on the terminal."""


@contextmanager
def served():
    """Yield (address, jobs) of a server on a free port."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.jobs = Jobs()
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield f"127.0.0.1:{server.server_address[1]}", server.jobs
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
