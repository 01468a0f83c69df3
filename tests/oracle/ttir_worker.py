"""Asks a real Triton release for the TTIR of kernels: run with that release (3.0 or later) on PYTHONPATH.

Argument: the file with the kernels. Standard input: one JSON object a line, {"kernel", "arch": "sm_80" or "gfx942",
"consts", "types"}. Standard output: one JSON object a line, {"ttir": text} or {"error": text}.
"""

import importlib.util
import json
import os
import sys
import tempfile

os.environ["TRITON_CACHE_DIR"] = tempfile.mkdtemp()
os.environ["TRITON_ALWAYS_COMPILE"] = "1"

import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

VERSION = tuple(int(part) for part in triton.__version__.split("+")[0].split(".")[:2])


class Done(Exception):
    """Carries the text out of the compiler before the next stage."""


def stop_after_ttir(backend):
    original = backend.add_stages

    def add_stages(self, stages, *rest, **named):
        original(self, stages, *rest, **named)
        make = stages["ttir"]

        def stage(source, metadata):
            raise Done(str(make(source, metadata)))

        stages["ttir"] = stage

    backend.add_stages = add_stages


def source_of(function, job):
    names = list(function.arg_names)
    constants = {n: v for n, v in job["consts"].items() if n in names}
    signature = {n: "constexpr" if n in constants else job["types"].get(n, "i32") for n in names}
    aligned = [i for i, n in enumerate(names) if signature[n] == "i32" or signature[n].startswith("*")]
    if VERSION >= (3, 3):
        hints = {(i,): [["tt.divisibility", 16]] for i in aligned}
        return ASTSource(function, signature, constants, hints)
    typed = {n: t for n, t in signature.items() if t != "constexpr"}
    if VERSION == (3, 2):
        from triton.backends.compiler import AttrsDescriptor

        properties = {"tt.divisibility": tuple(aligned), "tt.equal_to": ()}
        hints = AttrsDescriptor.from_dict({"cls": "AttrsDescriptor", "arg_properties": properties})
        return ASTSource(function, typed, constants, hints)
    from triton.compiler.compiler import AttrsDescriptor

    where = {n: i for i, n in enumerate(names)}
    return ASTSource(
        function,
        {where[n]: t for n, t in typed.items()},
        {where[n]: v for n, v in constants.items()},
        AttrsDescriptor(divisible_by_16=tuple(aligned), equal_to_1=()),
    )


def answer_to(job, kernels):
    function = getattr(kernels, job["kernel"], None)
    if function is None:
        return {"missing": True}
    arch = job["arch"]
    if arch.startswith("sm_"):
        target = GPUTarget("cuda", int(arch[3:]), 32)
    else:
        target = GPUTarget("hip", arch, 64 if arch.startswith("gfx9") else 32)
    try:
        triton.compile(source_of(function, job), target=target, options={})
    except Done as done:
        return {"ttir": done.args[0]}
    except Exception as error:
        while error.__cause__ is not None:
            error = error.__cause__
        return {"error": f"{type(error).__name__}: {error}"[:500]}
    return {"error": "no TTIR"}


def main():
    for backend in triton.backends.backends.values():
        stop_after_ttir(backend.compiler)
    spec = importlib.util.spec_from_file_location("kernels", sys.argv[1])
    kernels = importlib.util.module_from_spec(spec)
    sys.modules["kernels"] = kernels
    spec.loader.exec_module(kernels)
    for line in sys.stdin:
        print(json.dumps(answer_to(json.loads(line), kernels)), flush=True)


if __name__ == "__main__":
    main()
