"""One Config from many layers: order, provenance, errors that name the file and the nearest word."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.config.files import ConfigFiles

from mngr.config.layers import LayerValue, check_command_keys, check_template_keys, check_verbs
from mngr.config.trust import trust
from mngr.errors import UsageError


def test_without_any_file_there_are_defaults(files: ConfigFiles) -> None:
    config = files.load()
    assert config.get("prefix") == "mngr-"
    assert config.source("prefix") == "default"
    assert config.get("commands.create.branch") is None
    assert config.get("commands.create.branch", ":x/*") == ":x/*"
    assert config.section("commands.create") == {}
    assert config.items() == (("prefix", "mngr-", "default"),)
    assert config.host_dir == files.places.host_dir
    assert config.repo_root == files.places.repo_root


def test_the_example_of_the_documents_works_as_printed(files: ConfigFiles) -> None:
    files.user.write_text('[commands.create]\nconnect_command = "mngr-e2e-connect"\n')
    assert files.load().get("commands.create.connect_command") == "mngr-e2e-connect"


def test_each_layer_beats_the_ones_before_it(files: ConfigFiles) -> None:
    env: dict[str, str] = {}
    overrides: list[str] = []

    def says(value: str, source: str) -> None:
        config = files.load(*overrides, env=env)
        assert (config.get("commands.create.branch"), config.source("commands.create.branch")) == (
            value,
            source,
        )

    files.user.write_text('commands.create.branch = "user"')
    says("user", str(files.user))
    files.project.write_text('commands.create.branch = "project"')
    says("project", str(files.project))
    files.local.write_text('commands.create.branch = "local"')
    says("local", str(files.local))
    env["MNGR__COMMANDS__CREATE__BRANCH"] = "env"
    says("env", "environment MNGR__COMMANDS__CREATE__BRANCH")
    overrides.append("commands.create.branch=word")
    says("word", "-S")
    overrides.append("commands.create.branch=last")
    says("last", "-S")


def test_tables_of_several_layers_merge_and_lists_replace(files: ConfigFiles) -> None:
    files.user.write_text('[agent_types.a]\ncommand = "x"\nargs = ["1", "2"]\nenv = {A = "1", B = "2"}\n')
    config = files.load('agent_types.a.args=["3"]', "agent_types.a.env.B=4")
    assert config.section("agent_types.a") == {"command": "x", "args": ["3"], "env": {"A": "1", "B": "4"}}
    assert config.source("agent_types.a") == f"{files.user}, -S"


def test_explain_shows_what_every_layer_says(files: ConfigFiles) -> None:
    files.user.write_text('commands.create.setup = "make"\n')
    files.project.write_text('commands.create.setup = "evil"\n')
    config = files.load(env={"MNGR__COMMANDS__CREATE__SETUP": "true"})
    assert config.explain("commands.create.setup") == (
        LayerValue(str(files.user), "make", "overridden"),
        LayerValue(str(files.project), "evil", "untrusted"),
        LayerValue("environment MNGR__COMMANDS__CREATE__SETUP", True, "used"),
    )
    assert config.explain("commands.create.nothing") == ()


def test_items_are_flat_sorted_and_can_be_asked_for_again(files: ConfigFiles) -> None:
    files.user.write_text('[templates."v1.2"]\nbranch = "b"\n[providers.ssh]\nport = 22\n')
    config = files.load()
    keys = [key for key, _, _ in config.items()]
    assert keys == ["prefix", "providers.ssh.port", 'templates."v1.2".branch']
    assert all(
        config.get(key) == value and config.source(key) == source for key, value, source in config.items()
    )


def test_what_config_hands_out_cannot_change_it(files: ConfigFiles) -> None:
    files.user.write_text('[agent_types.a]\ncommand = ["x"]\n')
    config = files.load()
    config.section("agent_types.a")["command"].append("y")
    assert config.get("agent_types.a.command") == ["x"]


def test_an_option_has_one_meaning_with_dash_or_underscore(files: ConfigFiles) -> None:
    files.user.write_text('[commands.create]\nidle-timeout = "1h"\n')
    config = files.load("commands.create.connect-command=x")
    assert config.section("commands.create") == {"idle_timeout": "1h", "connect_command": "x"}
    assert config.get("commands.create.idle-timeout") == "1h"


def test_an_option_in_both_spellings_is_refused(files: ConfigFiles) -> None:
    files.user.write_text("[commands.create]\nidle-timeout = 1\nidle_timeout = 2\n")
    with pytest.raises(UsageError, match="twice"):
        files.load()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("true", True),
        ('["a"]', ["a"]),
        ("{ a = 1 }", {"a": 1}),
        ('"3"', "3"),
        ("1.5", 1.5),
        ("plain words", "plain words"),
        ("", ""),
        ("3 # three", "3 # three"),
        ("3, 4", "3, 4"),
        ("1]#", "1]#"),
        ("1\ny = 2", "1\ny = 2"),
        ("2024-01-01", "2024-01-01"),
        ("[unclosed", "[unclosed"),
        ("a=b", "a=b"),
    ],
)
def test_words_are_toml_values_where_they_parse(files: ConfigFiles, text: str, value: object) -> None:
    by_env = files.load(env={"MNGR__TMR__X": text})
    by_word = files.load(f"tmr.x={text}")
    assert by_env.get("tmr.x") == value == by_word.get("tmr.x")
    assert type(by_env.get("tmr.x")) is type(value)


def test_where_text_is_due_a_word_stays_text(files: ConfigFiles) -> None:
    config = files.load("agent_types.a.parent=3", "agent_types.a.env.PORT=80")
    assert config.section("agent_types.a") == {"parent": "3", "env": {"PORT": "80"}}


def test_environment_names_mean_the_spelling_of_the_files(files: ConfigFiles) -> None:
    files.user.write_text('[templates.Big-Box]\nbranch = "b"\n')
    env = {"MNGR__TEMPLATES__BIG_BOX__IDLE_TIMEOUT": "1h", "MNGR__TEMPLATES__NEW_ONE__BRANCH": "n"}
    config = files.load(env=env)
    assert config.section("templates") == {
        "Big-Box": {"branch": "b", "idle_timeout": "1h"},
        "new_one": {"branch": "n"},
    }


def test_mngr_prefix_is_the_short_way_to_the_prefix(files: ConfigFiles) -> None:
    assert files.load(env={"MNGR_PREFIX": "t1-"}).source("prefix") == "environment MNGR_PREFIX"
    assert files.load(env={"MNGR_PREFIX": "t1-", "MNGR__PREFIX": "t2-"}).get("prefix") == "t2-"


def test_quoted_parts_hold_dots_and_equal_signs(files: ConfigFiles) -> None:
    config = files.load('templates."a.b=c".branch=x', "templates.'d.e'.branch=y")
    assert config.section("templates") == {"a.b=c": {"branch": "x"}, "d.e": {"branch": "y"}}
    assert config.get('templates."a.b=c".branch') == "x"


@pytest.mark.accept("Q7")
@pytest.mark.parametrize("word", ["", "=", "x", "a..b=1", ".a=1", 'a."b=1', "a]b=1", '"\\q"=1', "nosuch.x=1"])
def test_a_malformed_override_is_a_usage_error(files: ConfigFiles, word: str) -> None:
    with pytest.raises(UsageError):
        files.load(word)


@pytest.mark.accept("Q7")
@pytest.mark.parametrize(
    ("text", "key", "hint"),
    [
        ("[comands.create]", "comands", "commands"),
        ("prefx = 'a'", "prefx", "prefix"),
        ("[agent_types.a]\ncomand = 'x'", "agent_types.a.comand", "command"),
        ("[agent-types.a]", "agent-types", "agent_types"),
        ("[notify]\ncommands = 'x'", "notify.commands", "command"),
    ],
)
def test_an_unknown_key_names_the_file_the_key_and_the_nearest(
    files: ConfigFiles, text: str, key: str, hint: str
) -> None:
    files.project.write_text(text)
    with pytest.raises(UsageError) as caught:
        files.load()
    assert caught.value.message == f'{files.project}: unknown key "{key}"'
    assert caught.value.hint == f'did you mean "{hint}"?'


def test_an_unknown_environment_variable_is_named(files: ConfigFiles) -> None:
    with pytest.raises(UsageError) as caught:
        files.load(env={"MNGR__NOTIFI__COMMAND": "x"})
    assert caught.value.message == 'environment MNGR__NOTIFI__COMMAND: unknown key "notifi"'
    assert caught.value.hint == 'did you mean "notify"?'


@pytest.mark.parametrize("name", ["MNGR__", "MNGR____PREFIX", "MNGR__A__"])
def test_an_environment_name_with_an_empty_part_is_refused(files: ConfigFiles, name: str) -> None:
    with pytest.raises(UsageError, match="empty part"):
        files.load(env={name: "x"})


@pytest.mark.accept("Q7")
@pytest.mark.parametrize(
    ("text", "key", "expected"),
    [
        ("prefix = 3", "prefix", "letters"),
        ("prefix = 'a b'", "prefix", "letters"),
        ("commands = 3", "commands", "a table"),
        ("[commands]\ncreate = 3", "commands.create", "a table"),
        ("[[templates.a]]", "templates.a", "a table"),
        ("[agent_types.a]\ncommand = 3", "agent_types.a.command", "a command"),
        ("[agent_types.a]\ncommand = []", "agent_types.a.command", "a command"),
        ("[agent_types.a]\nargs = 'x'", "agent_types.a.args", "a list of texts"),
        ("[agent_types.a]\nargs = [1]", "agent_types.a.args", "a list of texts"),
        ("[agent_types.a]\nenv = {A = 1}", "agent_types.a.env", "a table of texts"),
        ("[agent_types.a]\nparent = []", "agent_types.a.parent", "text"),
        ("notify.command = 2024-01-01", "notify.command", "a command"),
        ("providers.ssh = 1", "providers.ssh", "a table"),
        ("tmr = 1", "tmr", "a table"),
    ],
)
def test_a_wrong_type_names_the_file_the_key_and_what_was_expected(
    files: ConfigFiles, text: str, key: str, expected: str
) -> None:
    files.user.write_text(text)
    with pytest.raises(UsageError) as caught:
        files.load()
    assert str(files.user) in caught.value.message
    assert f'"{key}" must be' in caught.value.message
    assert expected in caught.value.message
    assert caught.value.hint


def test_a_section_is_known_once_a_plugin_declares_it(files: ConfigFiles) -> None:
    files.user.write_text("[weather]\ncity = 'x'\n")
    with pytest.raises(UsageError, match='unknown key "weather"'):
        files.load()
    assert files.load(extra_sections=["weather"]).get("weather.city") == "x"


@pytest.mark.accept("Q7")
def test_broken_toml_names_the_file_and_the_line(files: ConfigFiles) -> None:
    files.user.write_text("prefix = 'a'\n\n[commands\n")
    with pytest.raises(UsageError, match=r"config\.toml is not valid TOML: .*line 3"):
        files.load()
    files.user.write_text("prefix = 'a'\n[commands")
    with pytest.raises(UsageError, match=r"line 2"):
        files.load()
    files.user.write_bytes(b"prefix = 'a'\n#\n# \xff\n")
    with pytest.raises(UsageError, match=r"not UTF-8 \(at line 3\)"):
        files.load()


@pytest.mark.accept("Q7")
def test_a_file_that_cannot_be_read_is_said(files: ConfigFiles) -> None:
    os.mkdir(files.user)
    with pytest.raises(UsageError, match="not a regular file"):
        files.load()
    os.rmdir(files.user)
    files.user.symlink_to(files.user)
    with pytest.raises(UsageError, match="cannot read"):
        files.load()


@pytest.mark.accept("Q7", "K18")
def test_a_repository_cannot_hang_us_with_a_device_or_a_pipe(files: ConfigFiles) -> None:
    files.project.symlink_to("/dev/zero")
    with pytest.raises(UsageError, match="not a regular file"):
        files.load()
    files.project.unlink()
    os.mkfifo(files.project)
    with pytest.raises(UsageError, match="not a regular file"):
        files.load()


@pytest.mark.accept("Q7")
def test_a_file_without_measure_is_refused(files: ConfigFiles) -> None:
    files.project.write_text("#" * (1 << 19))
    with pytest.raises(UsageError, match="larger than"):
        files.load()


def test_unknown_options_of_a_verb_are_refused_with_the_nearest(files: ConfigFiles) -> None:
    files.user.write_text("[commands.create]\nidle_timeot = 1\n[templates.t]\nbrnch = 'x'\n")
    config = files.load()
    with pytest.raises(UsageError) as caught:
        check_command_keys(config, "create", ["idle-timeout", "branch"])
    assert caught.value.message == f"{files.user}: unknown key commands.create.idle_timeot"
    assert caught.value.hint == 'did you mean "idle_timeout"?'
    with pytest.raises(UsageError, match=r"unknown key templates\.t\.brnch"):
        check_template_keys(config, ["branch"])
    with pytest.raises(UsageError, match=r"unknown key commands\.create"):
        check_verbs(config, ["list"])
    check_command_keys(config, "create", ["idle-timeot"])
    check_command_keys(config, "list", [])
    check_verbs(config, ["create"])


def test_outside_a_repository_only_the_users_file_counts(files: ConfigFiles, tmp_path: Path) -> None:
    files.project.write_text("prefix = 'p-'")
    os.rename(tmp_path / "repo/.git", tmp_path / "repo/not-git")
    config = files.load()
    assert config.repo_root == ""
    assert config.get("prefix") == "mngr-"


@pytest.mark.accept("S1")
def test_loading_without_files_stays_light(files: ConfigFiles) -> None:
    code = (
        "import sys; from mngr.config.layers import load_config\n"
        "load_config('.', {'HOME': '/nonexistent', 'MNGR__COMMANDS__CREATE__BRANCH': 'x'}, ['prefix=a-'])\n"
        "print(*(set(sys.argv[1].split()) & set(sys.modules)))"
    )
    heavy = "tomllib hashlib json logging tempfile shutil difflib pathlib importlib.metadata dataclasses"
    done = subprocess.run(
        [sys.executable, "-c", code, heavy],
        cwd=files.places.host_dir,
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.strip() == ""


def test_trusted_files_say_no_notes(files: ConfigFiles) -> None:
    files.project.write_text("[agent_types.a]\ncommand = 'x'\n")
    assert len(files.load().ignored) == 1
    trust(files.places.repo_root, files.places.host_dir)
    assert files.load().ignored == ()
