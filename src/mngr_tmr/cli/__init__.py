"""Words to functions and back to text: `mngr tmr …`. The only room of the pipeline that imports click.

One file a command; tmr.py imports the one that was meant.
"""
