"""What is known of a run at one moment: its rows in sections, causes, counts. Start reading at report_model.py."""
