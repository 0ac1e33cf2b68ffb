"""The folder of a run: where each file is, writing it without secrets, and reading what became of every task.

It imports nothing that executes a run, so that a run can be read cheaply and by itself. Start at `folder.py`, then
`records.py`.
"""
