"""Every `st.session_state` key, so that a page and its test spell it alike.

The values of keys that choose what is shown are also the names of query parameters: the whole
state of a view can be sent as a link.
"""

from __future__ import annotations

from enum import StrEnum


class Param(StrEnum):
    """Query parameters that a page reads and writes by itself."""

    NODE = "node"
    FINDING = "finding"
    CLOSED = "closed"
    UNFOLDED = "unfolded"
    RUN = "run"
    REQUEST = "request"
    SCHEDULE = "schedule"
    RENAME = "rename"


class LandscapeKey(StrEnum):
    """Keys of the landscape."""

    VIEW = "view"
    LEVEL = "level"
    SELECT = "select"
    EXCLUDE = "exclude"
    SEARCH = "q"
    UNUSED = "all_topics"
    FOCUS = "focus"
    TRACE = "trace"
    TO = "to"
    OPENED = "open"
    READER = "reader"
    CONSUMERS = "landscape_consumers"
    GRAPH = "landscape_graph"


class TopologyKey(StrEnum):
    """Keys of the topology page."""

    PIPELINE = "pipeline"
    VERSION = "version"
    SEARCH = "q"
    FOCUS = "focus"
    GRAPH = "topology_graph"
    VIEW = "view"
    FOLD = "fold"
    UPLOAD = "capture"
    UPLOAD_PIPELINE = "capture_pipeline"
    UPLOAD_SHOW = "capture_show"
    UPLOAD_GO = "capture_go"
    UPLOAD_OPEN = "capture_open"
    GIVEN = "topology_given"
    STORED = "topology_stored"


class CompareKey(StrEnum):
    """Keys of the comparison."""

    PIPELINE = "pipeline"
    BEFORE = "before"
    AFTER = "after"
    BEFORE_GIVEN = "before_given"
    AFTER_GIVEN = "after_given"
    SIDE = "side"
    ONLY = "only_changes"
    SEARCH = "q"
    GRAPH = "compare_graph"
    RENAME_KIND = "compare_rename_kind"
    RENAME_OLD = "compare_rename_old"
    RENAME_NEW = "compare_rename_new"
    RENAME_TAKE = "compare_rename_take"
    REHEARSE = "compare_rehearse"
    REHEARSE_BATCH = "compare_rehearse_batch"
    REHEARSE_AFTER = "compare_rehearse_after"
    REHEARSE_BEFORE = "compare_rehearse_before"
    REHEARSE_CHECKPOINT = "compare_rehearse_checkpoint"
    REHEARSE_CANCEL = "compare_rehearse_cancel"
    REHEARSED = "compare_rehearsed"
    TWIN_NODE = "compare_twin_node"


class OutputKey(StrEnum):
    """Keys of the comparison of two outputs."""

    A = "a"
    B = "b"
    KEYS = "keys"
    IGNORE = "ignore"
    TOLERANCE = "output_tolerance"
    NEWEST = "output_newest"
    GO = "output_compare"
    CANCEL = "output_cancel"
    DOWNLOAD = "output_download"


class EvidenceKey(StrEnum):
    """Ends of the keys of a form for evidence; the form's name comes before them."""

    HOW = "how"
    TEXT = "text"
    FILES = "files"
    FOLDER = "folder"
    ADDRESS = "address"
    QUERY = "query"
    FIND = "find"

    def of(self, form: str) -> str:
        """Return the key in the form of that name."""
        return f"{form}_{self.value}"


class ReprocessKey(StrEnum):
    """Keys of the wizard."""

    PIPELINE = "pipeline"
    SCENARIO = "scenario"
    CHOOSE = "reprocess_choose"
    OTHER = "reprocess_other"
    GO = "reprocess_go"
    PLAN = "reprocess_plan"
    AGAIN = "reprocess_again"
    BATCHES = "reprocess_batches"
    POINTS = "reprocess_points"
    ASK = "reprocess_ask"
    NAME = "reprocess_name"
    REASON = "reprocess_reason"
    ASKED = "reprocess_asked"
    CONFIRM = "reprocess_confirm"
    CONFIRMED = "reprocess_confirmed"


class RequestsKey(StrEnum):
    """Keys of the requests page."""

    TABLE = "requests_table"
    NAME = "request_name"
    REASON = "request_reason"
    APPROVE = "request_approve"
    DECLINE = "request_decline"
    CANCEL = "request_cancel"


class SchedulesKey(StrEnum):
    """Keys of the schedules page."""

    TABLE = "schedules_table"
    TICKS = "schedule_ticks"
    NAME = "schedule_name"
    PAUSE = "schedule_pause"
    RESUME = "schedule_resume"


class RunsKey(StrEnum):
    """Keys of the runs page."""

    TABLE = "runs_table"
    PAGE = "runs_page"
    NEWER = "runs_newer"
    OLDER = "runs_older"
    UNDO = "run_undo"
    UNDO_CONFIRM = "run_undo_confirm"
    RESUME = "run_resume"
    CANCEL = "run_cancel"
    CONFIRM = "run_confirm"
    NAME = "run_name"
    LOOKS = "run_looks"
    LOOKING = "run_looking"
    REPORT = "run_report"
    PARTITIONS = "run_partitions"
