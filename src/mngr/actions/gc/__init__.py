"""`gc`: finds and removes what no agent owns. Start reading at `gc.py`."""
