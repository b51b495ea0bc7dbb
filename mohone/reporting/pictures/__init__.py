"""Pictures, one kind a file; each function returns a Matplotlib figure."""
