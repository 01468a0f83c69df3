"""What is known instead of estimated: numbers of the real compiler, and of real launches.

`record` has the fact; each reader turns one kind of file into facts; `matching` says for which launch a fact holds.
"""
