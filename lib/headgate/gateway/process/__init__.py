"""Processes, the JVM, jars and deadlines."""
