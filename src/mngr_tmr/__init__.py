"""The pipeline: an agent per test, one linear branch back, nothing lost.

Stands on the public functions of mngr alone, found by it through entry points like any stranger's plugin.
Rooms: model (records), engine (journal, decisions, the loop), world (what touches agents), integrate, report, cli.
"""
