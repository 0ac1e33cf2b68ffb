"""Layers become one `Config`: the user's file, the repository's two, the environment, `-S`; later wins."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from mngr.config.files import read_file
from mngr.config.keys import Key, join_key, loosely, parse_key, quote_text, scan_key
from mngr.config.locate import ConfigDirs, check_host_dir, find_places
from mngr.config.schema import (
    ANY_NAME,
    DEFAULTS,
    PREFIX,
    TEXT,
    Schema,
    canonical,
    canonical_key,
    check,
    expected_at,
    nested,
    with_sections,
)
from mngr.config.toml import check_bounds, parse_document, parse_value
from mngr.config.trust import is_trusted, needs_trust, split_by_trust
from mngr.errors import UsageError, did_you_mean

_ENV = "MNGR__"
_ABSENT = object()

Tables = dict[str, Any]


class Layer(Struct, frozen=True):
    """What one source says; `untrusted` is the part of it that has no effect yet."""

    source: str
    values: Tables
    untrusted: Tables = {}


class Leaf(Struct, frozen=True):
    """A value in effect, and where it came from."""

    value: Any
    source: str


class LayerValue(Struct, frozen=True):
    """What one layer says about a key. `standing` is used, overridden or untrusted."""

    source: str
    value: Any
    standing: str


class Config(Struct, frozen=True):
    """Every setting in effect. Its methods return copies."""

    host_dir: str
    repo_root: str
    layers: tuple[Layer, ...]
    tree: Tables
    ignored: tuple[str, ...] = ()
    """Notes for the user about keys that were dropped because they are not trusted."""

    def get(self, dotted: str, default: Any = None) -> Any:
        """The value of a key, a dict for a table, or `default`."""
        found = _at(self.tree, _key(dotted))
        return default if found is _ABSENT else _plain(found)

    def section(self, dotted: str) -> Tables:
        """The table under a key, empty when nothing is set there."""
        found = self.get(dotted, {})
        if not isinstance(found, dict):
            raise UsageError(f'{self.source(dotted)}: "{dotted}" must be a table')
        return found

    def source(self, dotted: str) -> str:
        """In human words where the value came from; several sources of one table are joined by commas."""
        found = _at(self.tree, _key(dotted))
        if found is _ABSENT:
            return "default"
        return ", ".join(dict.fromkeys(leaf.source for _, leaf in _leaves(found, ()))) or "default"

    def explain(self, dotted: str) -> tuple[LayerValue, ...]:
        """What every layer says about a key, weakest first."""
        key = _key(dotted)
        in_effect = {leaf.source for _, leaf in _leaves(_at(self.tree, key), ())}
        values = []
        for layer in self.layers:
            value, held = _at(layer.values, key), _at(layer.untrusted, key)
            if value is not _ABSENT:
                standing = "used" if layer.source in in_effect else "overridden"
                values.append(LayerValue(layer.source, _plain(value), standing))
            if held is not _ABSENT:
                values.append(LayerValue(layer.source, _plain(held), "untrusted"))
        return tuple(values)

    def items(self) -> tuple[tuple[str, Any, str], ...]:
        """Every setting as (dotted key, value, source), sorted by key."""
        flat = ((join_key(key), _plain(leaf.value), leaf.source) for key, leaf in _leaves(self.tree, ()))
        return tuple(sorted(flat, key=lambda item: item[0]))


def load_config(
    cwd: str,
    env: Mapping[str, str],
    overrides: Sequence[str] = (),
    extra_sections: Collection[str] = (),
) -> Config:
    """Reads every layer that is there. Anything wrong in one of them is a UsageError that names it."""
    places, schema = find_places(cwd, env), with_sections(extra_sections)
    check_host_dir(places.host_dir, env)
    layers = [Layer("default", DEFAULTS)]
    layers += [layer for path in places.files if (layer := _file_layer(path, places, schema))]
    notes = tuple(
        f"{layer.source}: without effect until you trust it: {', '.join(needs_trust(layer.untrusted))} "
        "(read it, then: mngr config trust)"
        for layer in layers
        if layer.untrusted
    )
    layers += _env_layers(env, _in_effect(layers), schema)
    # One layer for all `-S` words, in which the last one wins.
    values: Tables = {}
    for word in overrides:
        key, rest = scan_key(word)
        if not rest.startswith("="):
            raise UsageError(f"-S {quote_text(word)} has no value", hint="write -S section.key=value")
        values = _overlay(values, _word_layer(canonical_key(key), rest[1:], "-S", schema).values)
    override_layers = [Layer("-S", values)] if overrides else []
    layers += override_layers
    for layer in layers:
        if "policy" in {*layer.values, *layer.untrusted} and layer.source != places.user_file:
            raise UsageError(
                f"{layer.source}: [policy] cannot be set there", hint=f"it belongs in {places.user_file}"
            )
    return Config(places.host_dir, places.repo_root, tuple(layers), _in_effect(layers), notes)


def check_command_keys(
    config: Config, verb: str, known: Collection[str], shown: Collection[str] = ()
) -> None:
    """Refuses defaults for options that the verb does not have; a hint names those that are `shown`."""
    _check_names(config, ("commands", verb), {name.replace("-", "_") for name in known}, shown)


def check_template_keys(config: Config, known: Collection[str]) -> None:
    """Refuses templates with options that `create` does not have."""
    options = {name.replace("-", "_") for name in known}
    for template in config.section("templates"):
        _check_names(config, ("templates", template), options)


def check_verbs(config: Config, known: Collection[str]) -> None:
    """Refuses defaults for verbs that do not exist."""
    _check_names(config, ("commands",), set(known))


def check_section_keys(config: Config, section: str, known: Collection[str]) -> None:
    """Refuses keys that the plugin which owns the section does not have."""
    _check_names(config, (section,), set(known))


def _check_names(config: Config, table: Key, known: Collection[str], shown: Collection[str] = ()) -> None:
    for name in config.section(join_key(table)):
        if name not in known:
            dotted = join_key((*table, name))
            hint = did_you_mean(name, shown or known)
            raise UsageError(f"{config.source(dotted)}: unknown key {dotted}", hint=hint)


def _file_layer(path: str, places: ConfigDirs, schema: Schema) -> Layer | None:
    data = read_file(path)
    if data is None:
        return None
    document = canonical(parse_document(data, path), path)
    check(document, path, schema)
    if path == places.user_file:
        return Layer(path, document)
    free, held = split_by_trust(document)
    if held and is_trusted(path, data, places.host_dir):
        return Layer(path, document)
    return Layer(path, free, held)


def _env_layers(env: Mapping[str, str], tree: Tables, schema: Schema) -> list[Layer]:
    layers = []
    if env.get("MNGR_PREFIX"):
        layers.append(_word_layer(("prefix",), env["MNGR_PREFIX"], "environment MNGR_PREFIX", schema))
    for name in sorted(name for name in env if name.startswith(_ENV)):
        source = f"environment {name}" if name.isprintable() else f"environment {quote_text(name)}"
        parts = name.removeprefix(_ENV).split("__")
        if not all(parts):
            raise UsageError(f"{source}: an empty part in the name", hint=f"write {_ENV}SECTION__KEY")
        # The key an environment variable means: spelt as the files or the schema have it, else in lower case.
        key: list[str] = []
        there: Any = tree
        for part in parts:
            expected = expected_at(tuple(key), schema)
            in_files = there if isinstance(there, dict) else {}
            names = (*in_files, *(expected if isinstance(expected, Mapping) else ()))
            alike = (name for name in names if name != ANY_NAME and loosely(name) == loosely(part))
            key.append(next(alike, part.lower()))
            there = in_files.get(key[-1])
        spelled = canonical_key(tuple(key))
        layers.append(_word_layer(spelled, env[name], source, schema))
    return layers


def _word_layer(key: Key, text: str, source: str, schema: Schema) -> Layer:
    document = nested(key, word_value(key, text, schema))
    check_bounds(document, source)
    document = canonical(document, source)
    check(document, source, schema)
    return Layer(source, document)


def word_value(key: Key, text: str, schema: Schema) -> Any:
    """What a word from the command line or the environment means for a key: `3` is text where text is due."""
    value = parse_value(text)
    return text if expected_at(key, schema) in (TEXT, PREFIX) and not isinstance(value, str) else value


def _in_effect(layers: Iterable[Layer]) -> Tables:
    tree: Tables = {}
    for layer in layers:
        tree = _overlay(tree, _signed(layer.values, layer.source))
    return tree


def _overlay(lower: Tables, upper: Tables) -> Tables:
    """Tables merge key by key; anything else replaces what was there."""
    merged = dict(lower)
    for name, value in upper.items():
        if isinstance(value, dict):
            below = merged.get(name)
            value = _overlay(below if isinstance(below, dict) else {}, value)
        merged[name] = value
    return merged


def _signed(table: Tables, source: str) -> Tables:
    return {
        name: _signed(value, source) if isinstance(value, dict) else Leaf(value, source)
        for name, value in table.items()
    }


def _key(dotted: str) -> Key:
    return canonical_key(parse_key(dotted))


def _at(node: Any, key: Key) -> Any:
    for part in key:
        if not isinstance(node, dict) or part not in node:
            return _ABSENT
        node = node[part]
    return node


def _leaves(node: Any, at: Key) -> Iterator[tuple[Key, Leaf]]:
    if isinstance(node, Leaf):
        yield at, node
    elif isinstance(node, dict):
        for name, below in node.items():
            yield from _leaves(below, (*at, name))


def _plain(node: Any) -> Any:
    if isinstance(node, Leaf):
        return _plain(node.value)
    if isinstance(node, dict):
        return {name: _plain(below) for name, below in node.items()}
    return [_plain(item) for item in node] if isinstance(node, list) else node
