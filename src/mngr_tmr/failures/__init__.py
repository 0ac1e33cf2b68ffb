"""What failures have in common, as plain functions: their fingerprint.

Imports model and agent_text alone; the engine groups by it while a run goes on, and the report afterwards.
"""
