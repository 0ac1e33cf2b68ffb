"""The integration: verified work of many agents becomes one linear branch; a ledger says where each task's work is.

Imports model, git, copies, verify and the public names of mngr; it works on git objects and needs no checkout.
Start reading at integrate.py, then split/split.py, branch/builder.py and gates/gates.py.
"""
