//! The options of the Python package match the program's flags: `BLESS=1 cargo test --test it python_options::`
//! rewrites them from the definitions that the program parses its command line with.

use std::any::TypeId;
use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Arg, ArgAction, Command, CommandFactory};
use slotscope::cli::Cli;

use testkit::run::root;

const FILE: &str = "python/slotscope/_options.py";
const HEAD: &str = "\"\"\"The options of the functions, generated from the flags of the program (tests/it/python_options.rs).\"\"\"

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypedDict, Union

Path = Union[str, \"os.PathLike[str]\"]
";

/// The classes of options, and their commands.
const CLASSES: [(&str, &str); 4] = [
    ("Analyze", "analyze"),
    ("Plan", "plan"),
    ("WhatIf", "whatif"),
    ("Advise", "advise"),
];

/// Flags for outputs and for the terminal: a function returns its result.
const OF_THE_PROGRAM: &[&str] = &[
    "ask_password",
    "color",
    "commands",
    "fail_on",
    "force",
    "full",
    "help",
    "json",
    "max_job_bytes",
    "max_minutes",
    "no_files",
    "openmetrics",
    "out",
    "pause_ms",
    "progress",
    "rollback",
    "version",
];

/// The options of a command: all flags except those of the program.
fn options(command: &Command) -> Vec<&Arg> {
    let is_option = |arg: &&Arg| {
        let name = arg.get_long().unwrap_or_default().replace('-', "_");
        let is_forced = command.get_name() == "plan" && name == "force";
        !arg.is_positional() && (is_forced || !OF_THE_PROGRAM.contains(&name.as_str()))
    };
    let mut options: Vec<&Arg> = command.get_arguments().filter(is_option).collect();
    options.sort_by_key(|arg| arg.get_long());
    options
}

/// The type of one value of a flag.
fn value_type(arg: &Arg) -> &'static str {
    let kind = arg.get_value_parser().type_id();
    if kind == TypeId::of::<PathBuf>() {
        "Path"
    } else if [TypeId::of::<f64>(), TypeId::of::<f32>()]
        .iter()
        .any(|it| kind == *it)
    {
        "float"
    } else if [TypeId::of::<String>(), TypeId::of::<Duration>()]
        .iter()
        .any(|it| kind == *it)
    {
        "str"
    } else if is_integer(arg) {
        "int"
    } else {
        "str"
    }
}

fn is_integer(arg: &Arg) -> bool {
    let kind = arg.get_value_parser().type_id();
    let integers = [
        TypeId::of::<u8>(),
        TypeId::of::<u16>(),
        TypeId::of::<u32>(),
        TypeId::of::<u64>(),
        TypeId::of::<usize>(),
    ];
    integers.iter().any(|it| kind == *it)
}

/// The type of an option: a repeatable flag takes a list, a NAME=VALUE flag a dict.
fn python_type(arg: &Arg) -> String {
    let one = value_type(arg);
    let name = arg.get_value_names().unwrap_or_default().first();
    match arg.get_action() {
        ArgAction::SetTrue => "bool".into(),
        ArgAction::Append if name.is_some_and(|name| name.contains('=')) => {
            format!("Mapping[str, {one} | float] | list[{one}] | {one}")
        }
        _ if arg.get_id() == "by" => "Mapping[str, float] | list[str] | str".into(),
        ArgAction::Append => format!("{one} | list[{one}]"),
        _ => one.into(),
    }
}

/// A class whose docstring is what `help()` shows for its function.
fn class(name: &str, command: &Command) -> String {
    let (mut about, mut types) = (String::new(), String::new());
    for arg in options(command) {
        let option = arg.get_long().unwrap().replace('-', "_");
        let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
        let help = help.lines().next().unwrap_or_default();
        about += &format!("        {option}: {}\n", help.replace('\\', "\\\\"));
        types += &format!("    {option}: {}\n", python_type(arg));
    }
    format!(
        "\n\nclass {name}(TypedDict, total=False):\n    \"\"\"\n    Options:\n{about}    \"\"\"\n\n{types}"
    )
}

#[test]
fn options_are_the_flags_of_the_commands() {
    let mut program = Cli::command();
    program.build();
    let classes = CLASSES
        .map(|(name, command)| class(name, program.find_subcommand(command).expect(command)));
    let wanted = HEAD.to_owned() + &classes.concat();
    let path = root().join(FILE);
    if std::env::var_os("BLESS").is_some() {
        fs::write(&path, &wanted).unwrap();
    }
    let found = fs::read_to_string(&path).unwrap_or_default();
    assert!(
        found == wanted,
        "{FILE} is not what the program's flags say; BLESS=1 rewrites it"
    );
}

#[test]
fn flags_of_the_program_are_flags() {
    let mut program = Cli::command();
    program.build();
    let commands = CLASSES.map(|(_, command)| program.find_subcommand(command).expect(command));
    for name in OF_THE_PROGRAM {
        let is_flag = |command: &&Command| {
            command.get_arguments().any(|arg| {
                arg.get_long()
                    .is_some_and(|it| it.replace('-', "_") == *name)
            })
        };
        assert!(commands.iter().any(is_flag), "{name} is no flag");
    }
}
