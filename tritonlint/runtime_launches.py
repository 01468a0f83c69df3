"""Launches that a running program is about to make, as the estimator's own: from live arguments to a prediction.

Nothing of the kernel is run: its file is read as text, like every other. What is asked of live objects is their type,
address and shape; heuristics and the grid are the user's own functions, which the launch itself would call too.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from tritonlint.compiler.compiled import Compiled
from tritonlint.compiler.releases import parse_release
from tritonlint.estimate import Estimator, Job, JobError
from tritonlint.estimating import refusals
from tritonlint.gpu.profile import GpuProfile, find_gpu
from tritonlint.kernel.ir import Trace
from tritonlint.launch_model import Launch
from tritonlint.launch_time import predicted
from tritonlint.model.clusters import refused_clusters
from tritonlint.source.values import DType
from tritonlint.work import LaunchWork, measure

_DTYPES = {
    "float16": "fp16", "bfloat16": "bf16", "float32": "fp32", "float64": "fp64", "int8": "i8", "int16": "i16",
    "int32": "i32", "int64": "i64", "uint8": "u8", "uint16": "u16", "uint32": "u32", "uint64": "u64", "bool": "i1",
    "float8_e4m3fn": "fp8e4nv", "float8_e5m2": "fp8e5", "float8_e4m3fnuz": "fp8e4b8", "float8_e5m2fnuz": "fp8e5b16",
}  # fmt: skip
_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg")
_NOT_FOR_KERNELS = ("grid", "warmup", "pre_hook", "ir_override")
_COUNTED_AT_MOST = 200  # launches of a tuning
_SAMPLE = 320  # programs that are gone through one by one: two waves of one a multiprocessor on most GPUs


@dataclass(frozen=True, slots=True)
class Prediction:
    """`refused`: why the launch cannot run, else "". `time_ms` None where no model applies or nothing is known
    (`problem` says why); `best_ms` to `worst_ms` is its range."""

    refused: str = ""
    time_ms: float | None = None
    best_ms: float = 0.0
    worst_ms: float = 0.0
    problem: str = ""


def python_function(kernel: Any) -> Any:
    """The Python function inside a jit function, a heuristics decorator, or both."""
    while hasattr(kernel, "fn"):
        kernel = kernel.fn
    return kernel


def kernel_name(kernel: Any) -> str:
    return str(getattr(python_function(kernel), "__name__", kernel))


class RuntimeLaunches:
    """Predictions for the GPU in hand; keeps what it found, so that the same launch is answered at once."""

    def __init__(self) -> None:
        self._estimator = Estimator()
        self._gpu: GpuProfile | None = None
        self._triton = ""
        self._known: dict[Any, Prediction] = {}
        self._counted: dict[Any, tuple[Trace, LaunchWork | None]] = {}

    @property
    def gpu(self) -> GpuProfile:
        if self._gpu is None:
            self._gpu = gpu_in_hand()
        return self._gpu

    @property
    def gpu_name(self) -> str:
        return self.gpu.name

    @property
    def triton(self) -> str:
        """The release that is running: "3.6"."""
        if not self._triton:
            version = str(getattr(sys.modules.get("triton"), "__version__", ""))
            self._triton = ".".join(version.split(".")[:2])
        return self._triton

    @staticmethod
    def file_of(kernel: Any) -> str:
        code = getattr(python_function(kernel), "__code__", None)
        return code.co_filename if code is not None else ""

    def predict(
        self, kernel: Any, named_args: Mapping[str, Any], meta: Mapping[str, Any], config: Any
    ) -> Prediction:
        """One config of a tuning. Raises nothing that a launch would not."""
        values = {**named_args, **meta, **config.kwargs}
        for name in _OPTIONS:
            value = getattr(config, name, None)
            if value is not None:
                values[name] = value
        return self.predict_named(kernel, values)

    def predict_named(self, kernel: Any, values: Mapping[str, Any]) -> Prediction:
        """The same with everything by name, launch options and `grid` too."""
        named = dict(values)
        grid = _grid(named.pop("grid", None), named)
        options = {name: named[name] for name in _OPTIONS if name in named}
        function = python_function(kernel)
        code = function.__code__
        own = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        for name in (*_OPTIONS, *_NOT_FOR_KERNELS):
            if name not in own:  # a parameter `num_warps` gets what the option gets
                named.pop(name, None)
        named = _with_heuristics(kernel, named)
        arguments = tuple(sorted((name, _shown(value)) for name, value in named.items()))
        key = (code.co_filename, code.co_firstlineno, grid, tuple(sorted(options.items())), arguments)
        if key not in self._known:
            self._known[key] = self._predict(function, named, options, grid)
        return self._known[key]

    def _predict(
        self,
        function: Any,
        named: Mapping[str, Any],
        options: Mapping[str, Any],
        grid: tuple[int, ...] | None,
    ) -> Prediction:
        base = Job(
            file=function.__code__.co_filename,
            kernel=function.__name__,
            gpu=self.gpu.name,
            triton=self.triton or None,
            unit_strides=False,
        )
        try:
            constexprs = self._estimator.constexprs(base)
            job = _filled(base, named, options, grid, constexprs)
            clusters = self._refused_clusters(job.num_ctas or 1)
            if clusters:
                return Prediction(refused=clusters)
            launch, trace, compiled = self._estimator.compile(job)
        except JobError as error:
            return Prediction(problem=str(error))
        if trace.errors:
            first = trace.errors[0]
            return Prediction(refused=f"line {first.line}: {first.message}")
        reasons = refusals(compiled, self.gpu)
        if reasons:
            return Prediction(refused=reasons[0])
        if trace.gaps:
            return Prediction(problem=f"line {trace.gaps[0].line}: {trace.gaps[0].reason}")
        if launch.grid is None:
            return Prediction(problem="the grid is not known")
        return self._timed(launch, trace, compiled)

    def _refused_clusters(self, ctas: int) -> str:
        """Why the release that is running takes no such clusters on the GPU in hand for sure, else ""."""
        running = parse_release(self.triton)
        verdict = refused_clusters(self.gpu, ctas, running.version) if running is not None else None
        return f"num_ctas={ctas}: {verdict[0]}" if verdict is not None and verdict[1] == "proven" else ""

    def _timed(self, launch: Launch, trace: Trace, compiled: Compiled) -> Prediction:
        assert launch.grid is not None
        counted = self._work(launch, launch.grid, trace, compiled.tensor_cores != "none")
        timing = predicted(compiled, launch.options, self.gpu, counted) if counted is not None else None
        if timing is None:
            missing = counted.steps[0] if counted is not None and counted.steps else "no model applies"
            return Prediction(problem=missing)
        return Prediction("", timing.total_ms, timing.low_ms, timing.high_ms)

    def _work(
        self, launch: Launch, grid: tuple[int, ...], trace: Trace, tensor_cores: bool
    ) -> LaunchWork | None:
        """What a launch moves: the same for all numbers of warps and stages that a tile is tried with."""
        values = launch.arguments.values
        key = (id(trace), grid, tensor_cores, tuple(sorted(values.items())))
        if key not in self._counted:
            if len(self._counted) >= _COUNTED_AT_MOST:
                self._counted.clear()
            counted = measure(trace, grid, values, tensor_cores=tensor_cores, sample=_SAMPLE)
            self._counted[key] = (trace, counted)  # with the trace, so that no other takes its identity
        return self._counted[key][1]


def _filled(
    base: Job,
    named: Mapping[str, Any],
    options: Mapping[str, Any],
    grid: tuple[int, ...] | None,
    constexprs: frozenset[str],
) -> Job:
    """The job of live arguments. Raises JobError where one cannot be told."""
    constants: dict[str, Any] = {}
    types: dict[str, str] = {}
    numbers: dict[str, int] = {}
    divisible: set[str] = set()
    for name, value in named.items():
        if name in constexprs or value is None:
            constants[name] = _constant(name, value)
        elif isinstance(value, bool):
            types[name] = "i1"
        elif isinstance(value, int):
            if value == 1:
                constants[name] = 1
                continue
            numbers[name] = value
            types[name] = "i32" if -(2**31) <= value < 2**31 else "i64"
            if value % 16 == 0:
                divisible.add(name)
        elif isinstance(value, float):
            types[name] = "fp32"
        elif hasattr(value, "block_shape") and hasattr(value, "base"):
            shape = ",".join(str(size) for size in value.block_shape)
            types[name] = f"tensordesc<{_dtype(name, value.base.dtype)}[{shape}]>"
        elif hasattr(value, "dtype"):
            types[name] = f"*{_dtype(name, value.dtype)}"
            address = value.data_ptr() if hasattr(value, "data_ptr") else 0
            if address % 16 == 0:
                divisible.add(name)
        else:
            raise JobError(f"{name}: a {type(value).__name__} is not known")
    whole = {name: value for name, value in options.items() if isinstance(value, int)}
    return replace(
        base,
        types=types,
        constants=constants,
        values=numbers,
        divisible_by_16=frozenset(divisible),
        grid=grid,
        num_warps=whole.get("num_warps"),
        num_stages=whole.get("num_stages"),
        num_ctas=whole.get("num_ctas"),
        maxnreg=whole.get("maxnreg"),
    )


def _constant(name: str, value: Any) -> Any:
    value = getattr(value, "value", value) if type(value).__name__ == "constexpr" else value
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return tuple(_constant(name, entry) for entry in value)
    if type(value).__name__ == "dtype":
        return DType(_dtype(name, value))
    raise JobError(f"{name}: a {type(value).__name__} as a constant is not known")


def _dtype(name: str, dtype: Any) -> str:
    text = str(dtype).rpartition(".")[2]
    found = _DTYPES.get(text, text)
    if found not in _DTYPES.values():
        raise JobError(f"{name}: the type {dtype} is not known")
    return found


def _grid(grid: Any, named: Mapping[str, Any]) -> tuple[int, ...] | None:
    """The grid as the launch would have it."""
    if callable(grid):
        grid = grid(dict(named))
    if grid is None:
        return None
    sizes = tuple(grid) if isinstance(grid, (tuple, list)) else (grid,)
    return tuple(int(size) for size in sizes)


def _with_heuristics(kernel: Any, named: dict[str, Any]) -> dict[str, Any]:
    """The values that heuristics decorators around the kernel would set."""
    while hasattr(kernel, "fn"):
        values = getattr(kernel, "values", None)
        if isinstance(values, Mapping):
            named = dict(named)
            for name, heuristic in values.items():
                if callable(heuristic):
                    named[name] = heuristic(named)
        kernel = kernel.fn
    return named


def _shown(value: Any) -> Any:
    """What a prediction depends on of one argument."""
    if hasattr(value, "dtype") and hasattr(value, "data_ptr"):
        return (str(value.dtype), value.data_ptr() % 16 == 0)
    if hasattr(value, "block_shape") and hasattr(value, "base"):
        return (str(value.base.dtype), tuple(value.block_shape))
    return repr(value)


def gpu_in_hand() -> GpuProfile:
    """The profile of the GPU that launches go to: the product's where the driver's name tells it, with the number of
    multiprocessors that this device really has."""
    from tritonlint.gpu.detect import detect, match

    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available() and not getattr(torch.version, "hip", None):
        device = torch.cuda.get_device_properties(torch.cuda.current_device())
        name = match(device.name, f"sm_{device.major}{device.minor}")
        if name is None:
            raise JobError(f"the GPU {device.name} is not known")
        profile = find_gpu(name)
        if profile.multiprocessors not in (None, device.multi_processor_count):
            profile = profile.model_copy(update={"multiprocessors": device.multi_processor_count})
        return profile
    found = detect()
    if not found:
        raise JobError("no GPU was found")
    return find_gpu(found[0])
