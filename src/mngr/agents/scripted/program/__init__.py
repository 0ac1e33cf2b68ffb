"""The program of a scripted agent: modules that travel to any host as one zip file.

They need Python 3.8 and the standard library, nothing else. Start reading at `player.py`.
"""
