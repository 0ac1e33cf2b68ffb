"""The prompts of agents: Jinja templates that a project can extend, with names and blocks put in as data.

Imports mngr_tmr.publish for the schema and mngr_tmr.model. Start reading at templates/testing.md.j2, then render.py.
"""
