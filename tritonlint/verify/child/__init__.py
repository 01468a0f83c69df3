"""What runs beside Triton, in processes of its own: the user's module is imported here and nowhere else.

The interpreter may be another one than that of tritonlint, so nothing here knows tritonlint or any other package than
Triton (and torch, where it is installed). The package is started by its path, as `_tritonlint_child` (engine.BOOT).
"""
