"""The bundled example: a small program with a tutorial, a suite that cites it, and playbooks for scripted agents.

The suite holds faults of every kind; the playbooks hold what each agent does, never how it should be judged.
Start reading at project/tutorial.sh, then make.py.
"""
