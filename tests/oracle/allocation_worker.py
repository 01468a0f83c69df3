"""Asks a real Triton release about single passes: run with that release on PYTHONPATH.

Standard input: one JSON object a line, {"text": MLIR module, "arch": "sm_80" or "gfx942"}. Standard output:
one JSON object a line, {"shared": bytes that TritonGPU IR needs} or {"error": text}. With "coalesce": warps
in the job, the text is TTIR, and the answer is {"ir": the module after the coalescing pass}. Each module is
handled in a child process, since the compiler ends the process on what it does not like.
"""

import json
import os
import sys
import tempfile


def answer_to(job):
    from triton._C.libtriton import ir, nvidia, passes

    text, arch = job["text"], job["arch"]

    context = ir.context()
    ir.load_dialects(context)
    if arch.startswith("sm_"):
        nvidia.load_dialects(context)
    else:
        from triton._C.libtriton import amd

        amd.load_dialects(context)
    with tempfile.NamedTemporaryFile("w", suffix=".mlir") as file:
        file.write(text)
        file.flush()
        module = ir.parse_mlir_module(file.name, context)
        module.context = context
        manager = ir.pass_manager(context)
        if "coalesce" in job:
            target = f"cuda:{arch[3:]}" if arch.startswith("sm_") else f"hip:{arch}"
            passes.ttir.add_convert_to_ttgpuir(manager, target, job["coalesce"], job.get("lanes", 32), 1)
            passes.ttgpuir.add_coalesce(manager)
        elif arch.startswith("sm_"):
            if hasattr(nvidia.passes.ttgpuir, "add_allocate_shared_memory_nv"):
                nvidia.passes.ttgpuir.add_allocate_shared_memory_nv(manager, int(arch[3:]), 87)
            else:
                passes.ttgpuir.add_allocate_shared_memory(manager)
        elif hasattr(amd.passes.ttgpuir, "add_allocate_shared_memory"):
            try:
                amd.passes.ttgpuir.add_allocate_shared_memory(manager, arch)
            except TypeError:
                amd.passes.ttgpuir.add_allocate_shared_memory(manager)
        else:
            passes.ttgpuir.add_allocate_shared_memory(manager)
        try:
            manager.run(module, "allocation")
        except TypeError:
            manager.run(module)
        if "coalesce" in job:
            return {"ir": str(module)}
        for name in ("ttg.shared", "triton_gpu.shared"):
            value = module.get_int_attr(name)
            if value is not None:
                return {"shared": value}
    return {"error": "no number"}


def main():
    import triton  # noqa: F401  loaded once, before the children

    for line in sys.stdin:
        job = json.loads(line)
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            if not os.environ.get("WORKER_VERBOSE"):
                os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
            try:
                answer = answer_to(job)
            except BaseException as error:
                answer = {"error": repr(error)[:300]}
            os.write(writer, json.dumps(answer).encode())
            os._exit(0)
        os.close(writer)
        answer = b""
        while chunk := os.read(reader, 65536):
            answer += chunk
        os.close(reader)
        os.waitpid(child, 0)
        print(answer.decode() or json.dumps({"error": "aborted"}), flush=True)


if __name__ == "__main__":
    main()
