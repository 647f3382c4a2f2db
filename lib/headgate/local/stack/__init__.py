"""The processes that `headgate up` starts and ends."""
