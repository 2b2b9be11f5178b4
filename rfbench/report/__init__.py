"""What is made from ``trials.csv`` and its manifest: summaries, tables, figures."""
