"""The same numbers from the real compiler, beside the estimates: no GPU needed.

`asked` lists what to compile, `engine` has it compiled in child processes (`child/`), `store` keeps the answers for the
next run, `rows` puts them beside the estimates. `run` knows the whole way.
"""
