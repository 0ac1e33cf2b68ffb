"""The reduce step: verified work of many agents becomes one linear branch, and every task is accounted for.

Imports model, git and the public face of mngr; decisions are plain functions over records, git works on objects only.
Start reading at integrate.py, then cut.py, plan.py, build.py and gates.py.
"""
