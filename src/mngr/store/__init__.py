"""What an agent leaves on its host: where each file is, how its bytes are written, read and folded.

Pure text and bytes, plus locks on this machine; moving bytes is the job of actions. Start with `paths.py` and `fold.py`.
"""
