"""Settings: which file holds, what may stand in it, and what is said when something is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tritonlint import __version__
from tritonlint.lint import rules_for
from tritonlint.registry import registry
from tritonlint.settings import Resolver, SettingsError, check_version, load, shown
from tritonlint.settings_file import KEYS, json_schema, line_of, read

SCHEMA = Path(__file__).parent.parent / "tritonlint" / "schema" / "settings.schema.json"


def write(folder: Path, text: str, name: str = "pyproject.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_the_nearest_file_with_a_table_of_ours_holds(tmp_path: Path) -> None:
    """A pyproject.toml without [tool.tritonlint] is passed over, and an outer one holds."""
    write(tmp_path, '[tool.tritonlint]\ngpus = ["t4"]\n')
    write(tmp_path / "inner", '[project]\nname = "x"\n')
    write(tmp_path / "inner" / "deeper", '[tool.tritonlint]\ngpus = ["h100"]\n')
    assert load(tmp_path / "inner" / "a.py").gpus == ("t4",)
    assert load(tmp_path / "inner" / "deeper" / "a.py").gpus == ("h100",)


def test_tritonlint_toml_goes_before_pyproject_in_one_folder(tmp_path: Path) -> None:
    write(tmp_path, '[tool.tritonlint]\ntriton = "3.4"\n')
    write(tmp_path, 'triton = "3.6"\n', "tritonlint.toml")
    assert load(tmp_path).triton == "3.6"


def test_the_command_line_goes_before_the_file_and_says_so(tmp_path: Path) -> None:
    write(tmp_path, 'select = ["TL1"]\nignore = ["TL501"]\n', "tritonlint.toml")
    settings = Resolver({"select": ("TL2",), "ignore": None}).for_path(tmp_path / "a.py")
    assert settings.select == ("TL2",)
    origins = {key: origin for key, _, origin in shown(settings)}
    assert origins["select"] == "command line"
    assert origins["ignore"].endswith("tritonlint.toml:2")
    assert origins["gpus"] == "default"


def test_a_path_with_dots_has_the_settings_of_where_it_leads(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "here", 'gpus = ["t4"]\n', "tritonlint.toml")
    write(
        tmp_path / "there",
        '[tool.tritonlint]\ngpus = ["h100"]\n[[tool.tritonlint.overrides]]\npaths = ["a.py"]\ntriton = "3.4"\n',
    )
    monkeypatch.chdir(tmp_path / "here")
    for path in (Path("..", "there", "a.py"), tmp_path / "here" / ".." / "there" / "a.py"):
        found = load(path)
        assert (found.gpus, found.triton) == (("h100",), "3.4")
    assert load(Path("..", "a.py")).gpus == ()


def test_without_any_file_everything_is_a_default(tmp_path: Path) -> None:
    settings = Resolver(isolated=True).for_path(tmp_path)
    assert settings.path is None
    assert {origin for _, _, origin in shown(settings)} == {"default"}


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("[tool.tritonlint]\nx = 1\ngpu = ['t4']\n", 2, "unknown setting"),
        ("[tool.tritonlint]\n\ngpu = ['t4']\n", 3, "did you mean gpus?"),
        ("[tool.tritonlint]\ngpus = 3\n", 2, "expected a list of text, found a number"),
        ("[tool.tritonlint]\ngpus = ['t4', 4]\n", 2, "expected a list of text, found a number in it"),
        ("[tool.tritonlint]\ntriton = 3.9\n", 2, "in quotes"),
        ("[tool.tritonlint]\ntriton = 'new'\n", 2, 'such as "3.9"'),
        ("[tool.tritonlint.severity]\nTL101 = 'fatal'\n", 2, "error, warning, info, off"),
        ("[tool.tritonlint.severity.TL101]\nt4 = 'fatal'\n", 2, "error, warning, info, off"),
        ("[tool.tritonlint]\nseverity = 'error'\n", 2, "expected a table"),
        ("[tool.tritonlint]\nrequire-reasons = 'yes'\n", 2, "expected true or false, found text"),
        ("[tool.tritonlint.default-types]\nx = 'float'\n", 2, "expected a type such as"),
        ("[tool.tritonlint]\nrequired-version = '>=99'\n", 2, "asks for >=99"),
        ("[tool.tritonlint]\nrequired-version = 'soon'\n", 2, 'such as ">=0.2'),
        ("[tool.tritonlint]\nprofiles = ['mine.toml']\n", 2, "expected a table"),
        ("[tool.tritonlint]\ngpus = [\n", 2, "is not TOML"),
        ("[tool]\ntritonlint = 1\n", 2, "expected a table, found a number"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(tmp_path: Path, text: str, line: int, said: str) -> None:
    path = write(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load(tmp_path)
    assert said in str(caught.value)
    assert str(caught.value).startswith(f"{path}:")
    assert abs(caught.value.line - line) <= (1 if "TOML" in said else 0), caught.value.line
    assert "\n" not in str(caught.value)


def test_undecodable_settings_are_an_error_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "tritonlint.toml").write_bytes(b'gpus = ["t4"]\n# \xff\n')
    with pytest.raises(SettingsError, match="UTF-8"):
        load(tmp_path)


def test_a_newer_required_version_is_said_before_unknown_keys(tmp_path: Path) -> None:
    write(tmp_path, '[tool.tritonlint]\nfuture-key = 1\nrequired-version = ">=99"\n')
    with pytest.raises(SettingsError, match=f"tritonlint {__version__}"):
        load(tmp_path)


def test_every_key_is_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        f"""
gpus = "h100"
triton = "3.9"
select = ["TL1", "spill"]
ignore = ["TL501"]
exclude = ["build/"]
config_functions = ["lib.configs"]
baseline = "known.json"
required-version = ">={__version__}"
require-reasons = true
[severity]
TL101 = "info"
TL102 = {{ t4 = "off" }}
[severity.t4]
TL501 = "warning"
[per-file-ignores]
"tests/*" = ["TL4"]
[default-types]
"*_ptr" = "*bf16"
[profiles.mine]
base = "h100"
multiprocessors = 100
""",
        "tritonlint.toml",
    )
    settings = load(tmp_path)
    assert settings.gpus == ("h100",)
    assert settings.severity == {"TL101": "info", "TL102": {"t4": "off"}, "t4": {"TL501": "warning"}}
    assert settings.per_file_ignores == {"tests/*": ("TL4",)}
    assert settings.default_types == {"*_ptr": "*bf16"}
    assert settings.config_functions == ("lib.configs",)
    assert settings.require_reasons is True
    assert settings.profiles == {"mine": {"base": "h100", "multiprocessors": 100}}


def test_a_named_settings_file_is_used_for_everything(tmp_path: Path) -> None:
    path = write(tmp_path, 'triton = "3.4"\n', "other.toml")
    assert Resolver(file=path).for_path(tmp_path / "x" / "a.py").triton == "3.4"
    with pytest.raises(SettingsError, match="cannot be read"):
        Resolver(file=tmp_path / "none.toml").for_path(tmp_path)


def test_read_gives_nothing_for_a_file_without_our_table(tmp_path: Path) -> None:
    assert read(write(tmp_path, "[tool.other]\nx = 1\n")) is None


def test_lines_of_keys() -> None:
    text = '[tool.tritonlint]\ngpus = []\n[tool.tritonlint.severity]\n"TL101" = 1\nt4.TL1 = 2\n'
    assert line_of(text, ("tool", "tritonlint", "gpus")) == 2
    assert line_of(text, ("tool", "tritonlint", "severity", "TL101")) == 4
    assert line_of(text, ("tool", "tritonlint", "severity", "t4", "TL1")) == 5
    assert line_of(text, ("tool", "tritonlint", "severity", "none")) == 3
    assert line_of(text, ("tool", "none")) == 0
    assert line_of("", ("gpus",)) == 0


@pytest.mark.parametrize(
    ("required", "version", "holds"),
    [
        (">=0.2", "0.10.0", True),
        (">=0.2, <1", "1.0", False),
        ("==0.1.*", "0.1.7", True),
        ("~=0.3", "0.9", True),
        ("~=0.3.1", "0.4.0", False),
        ("!=0.1", "0.1.0", False),
        ("0.1.0", "0.1", True),
        ("soon", "0.1", None),
    ],
)
def test_versions(required: str, version: str, holds: bool | None) -> None:
    assert check_version(required, version) is holds


def test_the_shipped_schema_is_that_of_the_keys() -> None:
    assert json.loads(SCHEMA.read_text(encoding="utf-8")) == json_schema()


def test_the_schema_agrees_with_the_reader(tmp_path: Path) -> None:
    """What the schema allows is read; what it refuses is an error."""
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft7Validator(json_schema())
    good = {"gpus": ["t4"], "triton": "3.9", "severity": {"TL1": "off"}, "profiles": {"x": {"base": "t4"}}}
    assert validator.is_valid(good)
    assert not validator.is_valid({"gpu": ["t4"]})
    assert not validator.is_valid({"triton": 3.9})
    assert set(json_schema()["properties"]) == set(KEYS)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('[severity.TL101]\nh10 = "error"\n', ":1: severity.TL101.h10: unknown GPU 'h10'; near: h100"),
        ('[severity.t4]\nTL1O1 = "error"\n', ":1: severity.t4.TL1O1: unknown rule 'TL1O1'; did you mean "),
        (
            'triton = "3.9"\n[per-file-ignores]\n"*.py" = ["TL99x"]\n',
            ":2: per-file-ignores: unknown rule 'TL99x'",
        ),
    ],
)
def test_names_within_tables_are_checked(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "tritonlint.toml"
    path.write_text(text, encoding="utf-8")
    settings = read(path)
    assert settings is not None
    with pytest.raises(SettingsError) as error:
        rules_for(str(tmp_path / "a.py"), settings, registry())
    assert said in str(error.value)


def test_a_table_written_in_parts_has_the_line_of_its_first_part() -> None:
    assert line_of('triton = "3.9"\n[profiles.mine]\nbase = "h100"\n', ("profiles",)) == 2


OVERRIDES = """\
gpus = ["h100"]
ignore = ["TL5"]
severity = { TL305 = "error" }

[[overrides]]
paths = ["amd/**"]
gpus = ["mi300x"]
severity = { TL306 = "info" }

[[overrides]]
paths = "amd/old/*.py"
ignore = []
"""


def test_overrides_hold_for_their_paths(tmp_path: Path) -> None:
    """Later ones win, tables are merged, everything else is replaced; the command line stays on top."""
    write(tmp_path, OVERRIDES, "tritonlint.toml")
    resolver = Resolver()
    plain, amd, old = (resolver.for_path(tmp_path / name) for name in ("a.py", "amd/k.py", "amd/old/k.py"))
    assert (plain.gpus, amd.gpus, old.gpus) == (("h100",), ("mi300x",), ("mi300x",))
    assert (plain.ignore, amd.ignore, old.ignore) == (("TL5",), ("TL5",), ())
    assert plain.severity == {"TL305": "error"}
    assert amd.severity == {"TL305": "error", "TL306": "info"}
    assert amd.origins["gpus"].endswith("tritonlint.toml, overrides 1")
    assert resolver.for_path(tmp_path / "amd" / "x.py") is amd
    assert Resolver({"gpus": ("t4",)}).for_path(tmp_path / "amd/k.py").gpus == ("t4",)
    assert Resolver(file=tmp_path / "tritonlint.toml").for_path(tmp_path / "amd/k.py").gpus == ("mi300x",)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("overrides = 3\n", "expected a list of tables"),
        ("[[overrides]]\ngpus = ['t4']\n", "expected `paths`"),
        (
            "[[overrides]]\npaths = ['a']\nexclude = ['b']\n",
            ":3: overrides.exclude: cannot be set for single paths",
        ),
        ("[[overrides]]\npaths = ['a']\ngpu = ['b']\n", "did you mean gpus?"),
        ("[[overrides]]\npaths = ['a']\ntriton = 3.9\n", ":3: overrides.triton: expected text"),
    ],
)
def test_wrong_overrides(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(SettingsError) as error:
        load(write(tmp_path, text, "tritonlint.toml"))
    assert said in str(error.value)
