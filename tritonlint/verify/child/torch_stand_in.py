"""torch without a GPU: a real one is told what to answer about the device, a missing one is stood in for.

Kernel files import torch for what surrounds the kernel. Without torch, names of it give an object that can be called,
subclassed and decorated with, so that the definitions of the file are reached.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from .driver import capability


def prepare(gpu: Mapping[str, Any]) -> None:
    """Installs what is needed for modules that ask torch about the device."""
    if "torch" not in sys.modules and importlib.util.find_spec("torch") is None:
        sys.meta_path.append(_Finder())
    torch: Any = importlib.import_module("torch")
    amd = not gpu["arch"].startswith("sm_")
    torch.version.cuda = None if amd else "12.8"
    torch.version.hip = "6.4.0" if amd else None
    for name, answer in _answers(gpu, amd).items():
        setattr(torch.cuda, name, answer)


def _answers(gpu: Mapping[str, Any], amd: bool) -> dict[str, Callable[..., Any]]:
    major, minor = capability(gpu)
    properties = types.SimpleNamespace(
        name=gpu["title"],
        major=major,
        minor=minor,
        multi_processor_count=gpu["multiprocessors"],
        total_memory=gpu["dram_bytes"],
        shared_memory_per_block=49152,
        shared_memory_per_block_optin=gpu["shared_bytes_per_cta"],
        shared_memory_per_multiprocessor=gpu["shared_bytes_per_sm"],
        max_threads_per_multi_processor=gpu["threads_per_sm"],
        regs_per_multiprocessor=gpu["registers_per_sm"],
        warp_size=gpu["warp_size"],
        L2_cache_size=gpu["l2_bytes"],
        gcnArchName=gpu["arch"] if amd else "",
        is_integrated=False,
    )

    def always(value: Any) -> Callable[..., Any]:
        return lambda *_, **__: value

    return {
        "is_available": always(True),
        "is_initialized": always(True),
        "is_bf16_supported": always(amd or major >= 8),
        "device_count": always(1),
        "current_device": always(0),
        "set_device": always(None),
        "synchronize": always(None),
        "empty_cache": always(None),
        "init": always(None),
        "_lazy_init": always(None),
        "get_device_name": always(gpu["title"]),
        "get_device_capability": always((major, minor)),
        "get_device_properties": always(properties),
        "get_arch_list": always([gpu["arch"]]),
        "mem_get_info": always((gpu["dram_bytes"], gpu["dram_bytes"])),
    }


class Anything:
    """Stands for a thing of torch: called with a function it gives that function back, as a decorator does; else
    it gives another stand-in. It is false, so that questions about other devices are answered with no."""

    def __init__(self, name: str = "torch") -> None:
        self.__name__ = self.__qualname__ = name
        self.__module__ = "torch"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        made = Anything(f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        if len(arguments) == 1 and not keywords and isinstance(arguments[0], (types.FunctionType, type)):
            return arguments[0]
        return Anything(f"{self.__name__}()")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_Base,)

    def __getitem__(self, key: Any) -> Anything:
        return Anything(f"{self.__name__}[]")

    def __or__(self, other: Any) -> Any:  # annotations: torch.Tensor | None
        return self

    __ror__ = __or__

    def __iter__(self) -> Any:
        return iter(())

    def __bool__(self) -> bool:
        return False

    def __enter__(self) -> Anything:
        return self

    def __exit__(self, *_: object) -> None: ...

    def __repr__(self) -> str:
        return f"<no torch here: {self.__name__}>"


class _Base:
    """The base of classes that are derived from something of torch."""

    def __init__(self, *_: Any, **__: Any) -> None: ...

    def __init_subclass__(cls, **_: Any) -> None: ...

    @classmethod
    def apply(cls, *_: Any, **__: Any) -> Any:
        return Anything()


class _Module(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        made = Anything(f"{self.__name__}.{name}")
        setattr(self, name, made)
        return made


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Gives torch and every module below it."""

    def find_spec(self, name: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name != "torch" and not name.startswith("torch."):
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        module = _Module(spec.name)
        if spec.name == "torch":
            module.__dict__["__version__"] = "2.9.0"
        return module

    def exec_module(self, module: types.ModuleType) -> None: ...
