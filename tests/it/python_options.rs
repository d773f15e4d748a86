//! The options of the Python package match the program's flags: `BLESS=1 cargo test --test it python_options::`
//! rewrites them from the definitions that the program parses its command line with.

use std::any::TypeId;
use std::path::PathBuf;

use clap::{Arg, ArgAction, Command};
use slotscope::cli::program;

use testkit::files::{committed, same_bytes};

const FILE: &str = "python/slotscope/_options.py";
const HEAD: &str = "\"\"\"The options of the functions, generated from the flags of the program (tests/it/python_options.rs).\"\"\"

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TypedDict, Union

Path = Union[str, \"os.PathLike[str]\"]
";

/// The classes of options, and their commands.
const CLASSES: [(&str, &str); 5] = [
    ("Analyze", "analyze"),
    ("Plan", "plan"),
    ("WhatIf", "whatif"),
    ("Advise", "advise"),
    ("Capacity", "capacity"),
];

/// Flags for outputs and for the terminal: a function returns its result.
const OF_THE_PROGRAM: &str = "ask_password color commands csv fail_on force full help json max_job_bytes no_files \
    openmetrics out progress rollback version";

/// The options of a command: all flags except those of the program.
fn options(command: &Command) -> Vec<&Arg> {
    let is_option = |arg: &&Arg| {
        let name = arg.get_long().unwrap_or_default().replace('-', "_");
        let is_forced = matches!(command.get_name(), "plan" | "capacity") && name == "force";
        let is_its_own = OF_THE_PROGRAM.split(' ').any(|of| of == name);
        !arg.is_positional() && !arg.is_hide_set() && (is_forced || !is_its_own)
    };
    let mut options: Vec<&Arg> = command.get_arguments().filter(is_option).collect();
    options.sort_by_key(|arg| arg.get_long());
    options
}

/// The type of one value of a flag.
fn value_type(arg: &Arg) -> &'static str {
    let kind = arg.get_value_parser().type_id();
    let types = [
        (TypeId::of::<PathBuf>(), "Path"),
        (TypeId::of::<f64>(), "float"),
        (TypeId::of::<f32>(), "float"),
        (TypeId::of::<u8>(), "int"),
        (TypeId::of::<u16>(), "int"),
        (TypeId::of::<u32>(), "int"),
        (TypeId::of::<u64>(), "int"),
        (TypeId::of::<usize>(), "int"),
    ];
    let known = types.iter().find(|(of, _)| kind == *of);
    known.map_or("str", |(_, name)| name)
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
        _ if arg.get_id() == "by" => "list[str] | str".into(),
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
#[cfg_attr(not(feature = "rooms"), ignore)]
fn options_are_the_flags_of_the_commands() {
    let mut program = program();
    program.build();
    let classes = CLASSES
        .map(|(name, command)| class(name, program.find_subcommand(command).expect(command)));
    let wanted = HEAD.to_owned() + &classes.concat();
    committed(FILE, wanted.as_bytes(), same_bytes);
}

#[test]
#[cfg_attr(not(feature = "rooms"), ignore)]
fn flags_of_the_program_are_flags() {
    let mut program = program();
    program.build();
    let commands = CLASSES.map(|(_, command)| program.find_subcommand(command).expect(command));
    for name in OF_THE_PROGRAM.split(' ') {
        let mut args = commands.iter().flat_map(|command| command.get_arguments());
        let name = name.replace('_', "-");
        assert!(
            args.any(|arg| arg.get_long() == Some(&name)),
            "{name} is no flag"
        );
    }
}
