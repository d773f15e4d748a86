"""Inputs and options for the native part, as command line arguments."""

from __future__ import annotations

import difflib
import glob
import os
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from slotscope._frame import columns_of, is_frame
from slotscope._native import Error

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from slotscope.options import File, Keys, Path


#: The options that name columns of files, and the arguments that name those of a data frame.
COLUMNS = {"key_column": "key", "size_column": "bytes", "ops_column": "ops"}


def call(
    known: Any,
    inputs: tuple[Any, ...],
    options: Any,
    keys: Keys | None,
    key: str | None,
    bytes: str | None,
    ops: str | None,
) -> tuple[dict[str, Any], list[str]]:
    """The arguments of a function of the native part: the inputs, and the options, which are those of the type `known`."""
    names = {"key": key, "size": bytes, "ops": ops}
    if key is None and bytes is None and ops is None:
        return inputs_of(inputs, keys), words_of(options, known)
    if len(inputs) != 1 or keys is not None:
        raise Error("key: names a column of one data frame; give the frame alone: analyze(frame, key='name')")
    columns = columns_of(inputs[0], names)
    if key is None:
        raise Error("key: name the column of the keys: key='name'")
    for option, name in COLUMNS.items():
        if option in options:
            raise Error(f"{option}: names a column of a file; of a data frame: {name}={options[option]!r}")
    amounts = [(role, names[role], column) for role, column in columns.items() if role != "key"]
    return {"paths": [], "files": [], "keys": columns["key"], "amounts": amounts}, words_of(options, known)


def inputs_of(inputs: tuple[Any, ...], keys: Keys | None) -> dict[str, Any]:
    """The inputs sorted into paths, file objects and keys."""
    paths: list[str] = []
    files: list[File] = []
    for given in _flat(inputs):
        if isinstance(given, (str, os.PathLike)):
            paths += _matches(os.fspath(given))
        elif hasattr(given, "read"):
            files.append(given)
        elif is_frame(given):
            raise Error('a data frame: name its column of keys: analyze(frame, key="column")')
        else:
            kind = type(given).__name__
            raise TypeError(f"an input is a path, a URL or a file object, not {kind}; keys go to keys=")
    if isinstance(keys, (str, bytes, bytearray)):
        raise Error("keys: one key, not several; give a list of keys")
    if hasattr(keys, "read"):
        raise Error("keys: a file, whose lines end in line ends; give its path, or the binary file, as an input")
    if not paths and not files and keys is None:
        raise Error("no input: name a key dump, or give keys=")
    return {"paths": paths, "files": files, "keys": keys, "amounts": []}


def _flat(inputs: Iterable[Any]) -> Iterator[Any]:
    """The inputs, with nested lists flattened."""
    for given in inputs:
        if isinstance(given, (list, tuple)):
            yield from _flat(given)
        else:
            yield given


def _matches(path: str) -> list[str]:
    """The files that a pattern matches, sorted by name; an existing file or a URL is not a pattern."""
    if "://" in path or os.path.lexists(path) or not glob.has_magic(path):
        return [path]
    found = sorted(glob.glob(path, recursive=True))
    if not found:
        raise Error(f"{path}: no file has such a name")
    return found


def words_of(options: Any, known: Any) -> list[str]:
    """The options, all of which must be in the type `known`, as command line arguments."""
    words: list[str] = []
    for name, value in options.items():
        if name not in known.__optional_keys__:
            raise _unknown(name, known)
        flag = "--" + name.replace("_", "-")
        if isinstance(value, Mapping):
            value = [f"{key}={each}" for key, each in value.items()]
        if value is True:
            words.append(flag)
        elif isinstance(value, (list, tuple)):
            # Metrics are one word, which ranks them.
            words += [f"{flag}={each}" for each in ([",".join(map(str, value))] if name == "by" else value)]
        elif isinstance(value, os.PathLike):
            words.append(f"{flag}={os.fspath(value)}")
        elif value is not None and value is not False:
            words.append(f"{flag}={value}")
    return words


#: A command of the program, which keeps its flags, or a flag: `'--nodes <N>'` of parse errors, or `--nodes N` of advice.
FLAG = re.compile(r"slotscope [a-z][^;,]*|'--([a-z][a-z-]*)[^']*'|--([a-z][a-z-]*)(?:[ =]([A-Z][A-Z,]*|[\w.]+(?=:)))?(?![\w-])")


def option_words(message: str, known: Any) -> str:
    """The message with flags of `known` spelled as Python options."""

    def option(found: re.Match[str]) -> str:
        quoted, advised, value = found.groups()
        name = (quoted or advised or "").replace("-", "_")
        if name not in known.__optional_keys__:
            return found[0]
        if value:
            return f"{name}={value}"
        is_switch = advised and "bool" in str(known.__annotations__[name])
        return f"{name}=True" if is_switch else name

    return FLAG.sub(option, message)


def _unknown(name: str, known: Any) -> Error:
    near = difflib.get_close_matches(name, known.__optional_keys__, 1, 0.7)
    hint = f"did you mean {near[0]}?" if near else "slotscope.options lists them, and save() of a report writes files"
    return Error(f"{name}: no such option of {known.__name__.lower()}; {hint}")
