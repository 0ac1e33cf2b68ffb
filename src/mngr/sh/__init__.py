"""Shell programs that run on an agent's host: `.sh` files, how they are loaded, their exit codes, and quoting.

A program is NAME.sh here or beside the agent type that it belongs to; what several of them use is in `lib`. Python
passes values as positional parameters or quoted assignments, never by formatting text into a program. In Python stays
only what is really an argument: one command, or a few lines that call functions of `lib`. Every program must run in
dash, busybox sh and bash. Start at `program.py`; `model` and `errors` are all that this room imports.
"""
