"""Jobs that have ended, opened again: what commands ask of them. Nothing in here trains for its own sake."""
