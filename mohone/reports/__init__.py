"""Floor 4: what a folder of results adds up to. Everything is read from `result.json` files alone."""
