"""GPUs: what each one has, and where each number comes from.

    from tritonlint.gpu.profile import GpuProfile, find_gpu, list_profiles, build_profile
    from tritonlint.gpu.names import UnknownGpuError
    from tritonlint.gpu.detect import detect    # names of the local GPUs

This package itself imports nothing: pydantic comes in with `gpu.profile`.
"""
