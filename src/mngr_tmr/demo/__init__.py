"""The stage of `mngr demo`: the example in a folder that stays, and a machine of its own that does not.

It may import the example and what runs it; only the command line imports it. Start reading at stage.py.
"""
