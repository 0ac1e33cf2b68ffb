"""What an agent leaves on its host: where each file is, how its bytes are written, read and folded.

Pure text and bytes, plus locks on this machine; actions move the bytes. Start with `paths.py` and `fold.py`.
"""
