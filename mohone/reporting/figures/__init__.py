"""The former place of `pictures`, until the last that imports from here has moved."""
