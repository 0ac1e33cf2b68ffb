"""What past runs tell: an index beside their folders, and the questions that it answers.

The folders stay the truth: the index is made from their summaries, and made again whenever it cannot be used. It may
import what reads a run's folder and the records. Start at `index.py`.
"""
