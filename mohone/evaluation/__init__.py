"""Floor 1: ranks, metrics and significance of link prediction."""
