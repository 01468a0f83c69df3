"""What the rules share: places, wording, which configs fit, and the search for a change that does."""
