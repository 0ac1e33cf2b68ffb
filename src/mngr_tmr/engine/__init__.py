"""The run as records: a journal, the state folded from it, and what to do next, decided by plain functions.

Imports model alone and starts nothing: executor.py says what a world must be able to do, real or simulated.
Start reading at loop.py, then decide.py.
"""
