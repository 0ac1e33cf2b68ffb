"""The commands that this package adds to mngr: words in, text or JSON out.

The only room here that imports click; of mngr it uses the public names. Start at `tutorial.py`.
"""
