"""Records to one self-contained HTML page, and the same page live on loopback.

Owns the record classes that the page shows; what has something to show (test runs, pipelines) is turned into these.
Imports nothing of mngr or of its siblings. Start reading at records.py, then page.py.
"""
