"""The nouns of the pipeline, frozen: tasks, results, verdicts, journal entries, the integration.

Imports nothing but msgspec and the standard library. Start reading at task.py, then result.py.
"""
