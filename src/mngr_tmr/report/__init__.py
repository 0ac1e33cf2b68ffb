"""The report of a run: `data` computes rows, causes and counts from the run's folder, `out` writes them in every form.

Changes nothing but its own files in the folder; what agents wrote is shown and never trusted.
Start reading at data/rows.py, then data/report_model.py and report.py.
"""
