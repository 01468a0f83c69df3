# case: triton-2618
# gpu: h100
# triton: 3.2
# expect: none
import torch
import triton
import triton.language as tl


def keep(configs, args, **options):
    return [config for config in configs if config.kwargs["BLOCK"] <= args["n"]]


# tritonlint: assume x_ptr=*fp32, y_ptr=*fp32
@triton.autotune(
    configs=[triton.Config({"BLOCK": 512}), triton.Config({"BLOCK": 1024})],
    key=["n"],
    prune_configs_by={"early_config_prune": keep},
)
@triton.jit
def negate(x_ptr, y_ptr, n, BLOCK: tl.constexpr, CLAMP: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(y_ptr + i, tl.maximum(-x, 0.0) if CLAMP else -x, mask=i < n)


def run(x, y):
    negate[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, x.numel(), CLAMP=True)
