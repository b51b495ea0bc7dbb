"""What test results are told in; without torch, for commands that only read them."""

SETTINGS = ("filtered", "typed", "typed_train")
TESTED = ("mrr", "hits@10")  # The metrics whose gain has a p-value.
