"""Agents that build the branch or resolve a conflict, and how their commits are attributed.

Start reading at integrator.py.
"""
