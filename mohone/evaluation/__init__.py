"""Scores in, figures out: ranks, metrics, significance, the best answers; trains nothing."""
