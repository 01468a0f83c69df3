"""Asks a real Triton release what kernels need: run with that release (3.3 or later) on PYTHONPATH.

Standard input: one JSON object a line, {"file", "kernel", "arch": "sm_80" or "gfx942", "consts", "types", "options"}; all
pointers and i32 count as divisible by 16. Standard output: one JSON object a line, {"shared", "tmem"} or {"error"}.
"""

import importlib.util
import json
import os
import sys
import tempfile

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


def without_assembler():
    """The bytes are known before the assembler runs, which takes most of the time."""
    nvidia, amd = triton.backends.backends["nvidia"].compiler, triton.backends.backends["amd"].compiler
    nvidia.make_cubin = lambda *args, **kwargs: b""
    amd.make_hsaco = staticmethod(lambda *args, **kwargs: b"")
    amd.path_to_rocm_lld = staticmethod(lambda *args, **kwargs: "/bin/true")


def plain(kernel):
    """The jit function inside autotuners and heuristics."""
    while not hasattr(kernel, "arg_names") or not hasattr(kernel, "create_binder"):
        kernel = kernel.fn
    return kernel


def answer(job, modules):
    path = job["file"]
    if path not in modules:
        spec = importlib.util.spec_from_file_location(f"kernels{len(modules)}", path)
        modules[path] = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(modules[path])
    function = plain(getattr(modules[path], job["kernel"]))
    names, constants = list(function.arg_names), job["consts"]
    signature = {n: "constexpr" if n in constants else job["types"].get(n, "i32") for n in names}
    aligned = [i for i, n in enumerate(names) if signature[n] == "i32" or signature[n].startswith("*")]
    hints = {(i,): [["tt.divisibility", 16]] for i in aligned}
    arch = job["arch"]
    if arch.startswith("sm_"):
        target = GPUTarget("cuda", int(arch[3:]), 32)
    else:
        target = GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    kernel = triton.compile(
        ASTSource(function, signature, constants, hints), target=target, options=job["options"]
    )
    return {"shared": kernel.metadata.shared, "tmem": getattr(kernel.metadata, "tmem_size", None) or 0}


def main():
    without_assembler()
    modules = {}
    for line in sys.stdin:
        try:
            result = answer(json.loads(line), modules)
        except Exception as error:
            result = {"error": f"{type(error).__name__}: {str(error)[-300:]}"}
        print(json.dumps(result), flush=True)


main()
