"""What a run tells: rows in sections, causes, and from these the page, JSON, JUnit, markdown and lines for a terminal.

Reads the run's folder through `run` and changes nothing but its own files there; whatever an agent wrote is shown and
never trusted. Start reading at rows.py, then contents.py and report.py.
"""
