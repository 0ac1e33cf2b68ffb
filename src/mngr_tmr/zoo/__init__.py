"""Agents that misbehave: a suite whose every test passes, and a playbook for each test that does harm, or tries to.

README.md says what each does and how it ends. Imports mngr_tmr.example. Start reading at make.py.
"""
