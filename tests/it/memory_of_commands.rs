//! Every command that reads files stays within the memory limits in docs/limits.md, for files made to need more. The
//! test prints the usage of each.

use crate::memory::{BASE_MIB, INPUTS, THREAD_MIB, THREADS, write};
use testkit::run::Scratch;
use testkit::usage;

/// The inputs that need most in the stages of a run, by the start of their names.
const CHOSEN: [&str; 6] = [
    "keys of an RDB file",
    "a bomb of zeros",
    "lines at the limit",
    "a row of commas",
    "an object of many members",
    "long tags, types and databases",
];

/// The command lines; `IN` is the input, and `--threads` is added if a command has it.
const COMMANDS: [&str; 10] = [
    "tally IN --out out --threads 2",
    "plan IN --nodes 3 --threads 2",
    "whatif IN --nodes 3 --to-nodes 4 --threads 2",
    "lint IN --threads 2",
    "timeline IN --threads 2",
    "dump IN",
    "fanout IN",
    "diff IN IN",
    "trend IN IN IN",
    "merge IN IN --out out",
];

#[test]
fn a_long_description_of_a_collection_takes_no_more() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path("all")).unwrap();
    let most = BASE_MIB + THREAD_MIB * THREADS;
    let zeros = "0,".repeat(7_900_000);
    for schema in ["slotscope.collect/1", "slotscope.collect/9"] {
        let text = format!("{{\"schema\":\"{schema}\",\"x\":[{zeros}0]}}");
        scratch.file("all/collect.json", text);
        let run = usage::of(scratch.command(&["analyze", "all", "--threads", "2"]));
        println!("{schema}: {} of {most} MiB", run.peak_mib());
        assert!(run.code == Some(2) && run.peak_mib() <= most, "{run:?}");
    }
}

#[test]
fn no_command_takes_more_memory_than_the_manual_says() {
    let scratch = Scratch::new();
    let path = scratch.path("hostile");
    let most = BASE_MIB + THREAD_MIB * THREADS;
    let mut too_much = Vec::new();
    println!("| command | input | peak MiB | most MiB | code |\n|---|---|--:|--:|--:|");
    let chosen = CHOSEN.map(|start| INPUTS.iter().find(|input| input.name.starts_with(start)));
    for input in chosen.map(Option::unwrap) {
        write(input, &path);
        for line in COMMANDS {
            let words: Vec<&str> = line.split(' ').collect();
            let words: Vec<&str> = words
                .iter()
                .map(|word| if *word == "IN" { "hostile" } else { word })
                .collect();
            let run = usage::of(scratch.command(&words));
            let (peak, name) = (run.peak_mib(), input.name);
            let code = run.code.map_or("killed".into(), |code| code.to_string());
            println!("| {line} | {name} | {peak} | {most} | {code} |");
            if peak > most || run.code.is_none_or(|code| code > 2) {
                too_much.push((line, name, run));
            }
        }
    }
    assert!(too_much.is_empty(), "{too_much:#?}");
}
