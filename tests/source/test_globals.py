"""Names of a module that its functions set later are not what the module gave them first."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.source.reading import launched, tuned, values
from tritonlint.source.values import Known, Unknown

MODULE = """
SIZE = 64
LAZY = None
STAYS = 32
BOTH = 16

def initialise():
    global SIZE, BOTH
    SIZE = torch.cuda.get_device_properties(0).multi_processor_count
    BOTH = 128

def reads():
    global SIZE, ONLY_READ
    return SIZE

ONLY_READ = 8

def lazy():
    global LAZY
    if LAZY is None:
        LAZY = 256
    return LAZY

class Holder:
    def method(self):
        global KEPT
        KEPT = 1
"""


@pytest.mark.parametrize(
    ("value", "known"),
    [
        ("SIZE", None),
        ("reads()", None),
        ("BOTH", None),
        ("STAYS", 32),
        ("ONLY_READ", 8),
        ("lazy()", 256),
        ("KEPT", None),
    ],
)
def test_what_a_function_sets_is_not_known_in_another(value: str, known: int | None) -> None:
    plan = launched(f"{MODULE}\nKEPT = 8\n\ndef run(x, y, n):\n    scale[(1,)](x, y, n, BLOCK={value})\n")
    (block,) = (candidate.constants["BLOCK"] for candidate in plan.candidates)
    assert block == Known(known) if known is not None else isinstance(block, Unknown)


def test_a_function_sees_what_it_sets_itself() -> None:
    plan = launched(
        MODULE
        + "\ndef run(x, y, n):\n    global STAYS\n    STAYS = 512\n    scale[(1,)](x, y, n, BLOCK=STAYS)\n"
    )
    assert [candidate.constants["BLOCK"] for candidate in plan.candidates] == [Known(512)]


def test_where_the_module_runs_its_own_values_hold() -> None:
    site = tuned(MODULE + "\n@triton.autotune([triton.Config({'BLOCK': SIZE})], key=[])\n")
    assert values(site) == [64]


SETTERS = {
    "under a condition on its line": "global SIZE\n    if n > 5: SIZE = 32",
    "shifted": "global SIZE\n    SIZE >>= 1",
    "multiplied like matrices": "global SIZE\n    SIZE @= n",
    "one of a pair": "global SIZE\n    (SIZE, other) = n",
    "a loop's own": "global SIZE\n    for SIZE in n:\n        pass",
    "a walrus": "global SIZE\n    if (SIZE := n) > 3:\n        pass",
    "a walrus in a comprehension": "global SIZE\n    return [SIZE := one for one in n]",
    "on one line": "global SIZE; SIZE = n",
    "over two lines": "global OTHER, \\\n        SIZE\n    OTHER = SIZE = n",
    "behind else": "if n: pass\n    else: global SIZE; SIZE = 3",
    "imported": "global SIZE\n    from math import pi as SIZE",
    "matched": "global SIZE\n    match n:\n        case [SIZE, _]:\n            pass",
    "as": "global SIZE\n    with n as SIZE:\n        pass",
    "deleted": "global SIZE\n    del SIZE",
    "in a function inside": "def inner():\n        global SIZE\n        SIZE = n\n    inner()",
}
READERS = {
    "only read": "global SIZE\n    return SIZE",
    "a keyword": "global SIZE\n    return dict(\n        SIZE=SIZE,\n    )",
    "a text": 'global SIZE\n    """\n    SIZE = 128 is the default\n    """',
    "a note": "# global SIZE\n    SIZE = n",
    "another function's": "global SIZE\n    def inner():\n        SIZE = n",
    "what a comprehension runs over": "global SIZE\n    return [SIZE for SIZE in n]",
    "an attribute": "global SIZE\n    n.SIZE = 3",
}


@pytest.mark.parametrize(
    ("body", "known"),
    [*((body, None) for body in SETTERS.values()), *((body, 64) for body in READERS.values())],
)
@pytest.mark.parametrize(
    "value", ["SIZE", "sizes.SIZE", "taken", "starred"], ids=["own", "attribute", "from", "star"]
)
def test_every_way_to_set_a_name(tmp_path: Path, body: str, known: int | None, value: str) -> None:
    module = f"SIZE = 64\n\ndef change(n):\n    {body}\n"
    (tmp_path / "sizes.py").write_text(module)
    before = {
        "SIZE": module,
        "taken": "from sizes import SIZE as taken\n",
        "starred": "from sizes import *\n",
    }
    value_of = {"starred": "SIZE"}.get(value, value)
    code = before.get(value, "import sizes\n")
    plan = launched(
        f"{code}\ndef run(x, y, n):\n    scale[(1,)](x, y, n, BLOCK={value_of})\n",
        path=tmp_path / "kernels.py",
    )
    (block,) = (candidate.constants["BLOCK"] for candidate in plan.candidates)
    assert block == Known(known) if known is not None else isinstance(block, Unknown)


def test_in_a_module_that_is_imported_too(tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text("import torch\n" + MODULE)
    code = "import sizes\nfrom sizes import reads, lazy\n"
    for value, known in (("reads()", None), ("lazy()", 256)):
        plan = launched(
            f"{code}\ndef run(x, y, n):\n    scale[(1,)](x, y, n, BLOCK={value})\n",
            path=tmp_path / "kernels.py",
        )
        (block,) = (candidate.constants["BLOCK"] for candidate in plan.candidates)
        assert block == Known(known) if known is not None else isinstance(block, Unknown)
