"""The matrix as one self-contained page: `render` puts the pieces together.

The page needs no network: the styles, the scripts, the data and the chart library stand in it.
"""
