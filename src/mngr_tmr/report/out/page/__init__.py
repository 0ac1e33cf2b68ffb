"""A run as the records of the page. Start reading at page.py, then source.py."""
