"""What is put onto an agent's host: one file, `mngr-result`, first on the agent's PATH.

Owns that program, the pytest plugin inside it, and the schema text that agents read; imports mngr_tmr.model only.
Start reading at helper.py, then helper_program.py: both programs need Python 3.8 and nothing of ours there.
"""
