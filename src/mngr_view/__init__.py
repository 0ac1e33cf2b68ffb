"""Records to one self-contained HTML page, and the same page live on loopback.

Owns the record classes that the page shows; whoever has something to show (test runs, pipelines) turns it into these.
Imports nothing of mngr or of its siblings. Start reading at records.py, then page.py.
"""
