"""Floor 1: the entities as a network, heat flowing on it, distances between its nodes."""
