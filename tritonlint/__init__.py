"""tritonlint: what each Triton launch config costs on each GPU, read from the source alone."""

__version__ = "0.1.0"
