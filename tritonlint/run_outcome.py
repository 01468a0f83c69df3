"""What became of the configs that a tuning tried: read off Triton's own objects after it, into the run log.

A hook is called before the configs are compiled and timed, so the outcome is written at the next call of a hook, or when
the program ends. Everything here is what Triton 3 keeps in plain attributes; what is not there is left out.
"""

from __future__ import annotations

import atexit
import math
from collections.abc import Iterator, Mapping
from typing import Any

from tritonlint.run_log import Launched, Tuning, append_launched

_OPTIONS = ("num_warps", "num_stages", "num_ctas")


class Outcomes:
    """The tunings whose outcome is still to be written."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Any, Tuning, str]] = []
        self._written: dict[int, Any] = {}  # compiled kernels, kept so that their ids stay taken
        self._at_exit = False

    def expect(self, tuner: Any, tuning: Tuning, path: str) -> None:
        """`tuner` is about to compile and time; the outcome goes to `path`."""
        if not self._at_exit:
            atexit.register(self.write)
            self._at_exit = True
        self._waiting.append((tuner, tuning, path))

    def write(self) -> None:
        """Writes what is known by now. Never raises: tuning must go on."""
        waiting, self._waiting = self._waiting, []
        for tuner, tuning, path in waiting:
            try:
                found = [one for kernel, one in launched(tuner) if self._first(kernel)]
                if found:
                    append_launched(path, tuning, found)
            except Exception:  # another Triton than those that this was written for
                continue

    def _first(self, kernel: Any) -> bool:
        new = id(kernel) not in self._written
        self._written[id(kernel)] = kernel
        return new


def launched(tuner: Any) -> Iterator[tuple[Any, Launched]]:
    """Every kernel that the tuner had compiled and loaded, with the time of its config where it was timed."""
    function = tuner.fn
    while not hasattr(function, "create_binder"):
        function = function.fn
    caches = getattr(function, "device_caches", None) or getattr(function, "cache", None) or {}
    timings = getattr(tuner, "configs_timings", None) or {}
    for device in caches.values():
        kernels = device[0] if isinstance(device, tuple) else device
        for kernel in kernels.values():
            if getattr(kernel, "n_regs", None) is not None:
                yield kernel, _launched(kernel, list(function.arg_names), timings)


def _launched(kernel: Any, names: list[str], timings: Mapping[Any, Any]) -> Launched:
    metadata, source = kernel.metadata, kernel.src
    constants = {_name(key, names): _plain(value) for key, value in source.constants.items()}
    types = {name: str(text) for name, text in source.signature.items() if text != "constexpr"}
    aligned = [
        _name(key, names) for key, hints in dict(source.attrs).items() if "tt.divisibility" in str(hints)
    ]
    options = {name: getattr(metadata, name, None) for name in _OPTIONS}
    return Launched(
        constants=constants,
        types=types,
        aligned=[name for name in aligned if name in types],
        options=options,
        shared_bytes=metadata.shared,
        registers=kernel.n_regs,
        spills=kernel.n_spills,
        tensor_memory_columns=getattr(metadata, "tmem_size", None),
        time_ms=_time(timings, constants, options),
    )


def _name(key: Any, names: list[str]) -> str:
    index = key[0] if isinstance(key, tuple) else key
    return names[index] if isinstance(index, int) else str(index)


def _plain(value: Any) -> Any:
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (tuple, list)):
        return [_plain(entry) for entry in value]
    return str(getattr(value, "name", None) or getattr(value, "__name__", None) or value)


def _time(
    timings: Mapping[Any, Any], constants: Mapping[str, Any], options: Mapping[str, Any]
) -> float | None:
    """The median time of the config with these values; of several tunings, the last one's."""
    for config, times in timings.items():
        own = {name: getattr(config, name, None) for name in _OPTIONS}
        same = all(constants.get(name) == _plain(value) for name, value in config.kwargs.items())
        if same and all(own[name] in (None, options[name]) for name in _OPTIONS):
            median = times[0] if isinstance(times, (list, tuple)) else times
            return float(median) if math.isfinite(median) else None
    return None
