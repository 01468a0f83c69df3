"""What is handed to the compiler: values as the launcher would see them, and keys that last."""

from __future__ import annotations

from tests.samples import HEAD, targets
from tritonlint.context import FileWork
from tritonlint.settings import Settings
from tritonlint.verify.asked import Asked, asked_of
from tritonlint.verify.run import spread

SCALE = (
    HEAD
    + """\
FACTOR: tl.constexpr = 2


@triton.jit
def scaled(x):
    return x * FACTOR


@triton.jit
def scale(x_ptr, n, stride, flag, alpha=1, BLOCK: tl.constexpr = 64, OP: tl.constexpr = "add"):
    offs = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + offs * stride, scaled(tl.load(x_ptr + offs * stride, mask=offs < n)), mask=offs < n)


def run(x):
    scale[(4,)](x, 4096, 1, None, BLOCK=128, num_warps=8)
"""
)


def asked(source: str, gpu: str = "h100") -> list[Asked]:
    return list(asked_of(FileWork("sample.py", source, Settings(), targets(gpu))))


def key(source: str) -> str:
    (one,) = asked(source)
    assert one.job is not None
    return one.job.key


def test_a_launch_is_specialized_as_the_launcher_does() -> None:
    (one,) = asked(SCALE)
    job = one.job
    assert job is not None
    assert job.constants == {"BLOCK": 128, "OP": "add", "stride": 1, "flag": None, "alpha": 1}
    assert job.types == {"x_ptr": "*fp32", "n": "i32"}
    assert job.aligned == ("n", "x_ptr")
    assert (job.options["num_warps"], job.options["num_ctas"], job.arch) == (8, 1, "sm_90")
    assert job.first_line == job.last_line - 1


def test_the_key_holds_through_comments_and_moves() -> None:
    moved = SCALE.replace("@triton.jit\ndef scale(", "# a comment\n\n@triton.jit\ndef scale(")
    assert key(moved) == key(SCALE)


def test_the_key_changes_with_what_is_compiled() -> None:
    changed = {
        SCALE.replace("x * FACTOR", "x + FACTOR"),  # a callee
        SCALE.replace("FACTOR: tl.constexpr = 2", "FACTOR: tl.constexpr = 3"),  # what the callee reads
        SCALE.replace("4096", "4095"),  # divisible by 16 no longer
        SCALE.replace("num_warps=8", "num_warps=4"),
        SCALE.replace("BLOCK=128", "BLOCK=256"),
        SCALE,
    }
    assert len({key(source) for source in changed}) == len(changed)


def test_what_is_not_known_is_not_compiled() -> None:
    (one,) = asked(SCALE.replace("def run(x)", "def run(x, block)").replace("BLOCK=128", "BLOCK=block"))
    assert one.job is None
    assert one.why.startswith("BLOCK: ")


def test_the_same_launch_is_asked_for_once() -> None:
    twice = SCALE + "    scale[(4,)](x, 4096, 1, None, BLOCK=128, num_warps=8)\n"
    keys = [one.job.key for one in asked(twice) if one.job is not None]
    assert len(keys) == 2  # two places of the file ...
    assert len(set(keys)) == 1  # ... and one compile


def test_a_part_of_a_list_keeps_kernels_of_which_nothing_is_complete() -> None:
    """A kernel must not vanish from the report since its values are not known."""
    complete = asked(SCALE)
    open_ = asked(SCALE.replace("BLOCK=128", "BLOCK=x.block"))
    assert [one.job is None for one in (*complete, *open_)] == [False, True]
    kept = spread([*open_, *complete, *complete], 1, lambda one: (one.kernel,))
    assert kept == complete
    assert spread([*open_, *open_], 1, lambda one: (one.kernel,)) == open_
