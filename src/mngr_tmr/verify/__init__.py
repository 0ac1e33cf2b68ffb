"""Verification: tests run in fresh copies, and what an agent's commits touch.

Imports mngr_tmr.collect, mngr_tmr.copies and mngr_tmr.model. Start reading at verify.py.
"""
