//! Dumps on web servers and in object stores give the reports that the same files give, and what goes wrong on the way is
//! one line that names the object.

mod faults;
mod server;
mod web;

use std::process::Output;

use crate::support::run::slotscope;

/// `slotscope ARGS`, without the proxies and the credentials of whoever runs the tests, and with few retries.
pub fn run(args: &[&str]) -> Output {
    run_with(args, &[])
}

/// As `run`, with these variables.
pub fn run_with(args: &[&str], variables: &[(&str, &str)]) -> Output {
    let mut command = slotscope(args);
    let taken = ["AWS_", "AZURE_", "GOOGLE_", "HTTP_", "HTTPS_", "ALL_"];
    for (name, _) in std::env::vars_os() {
        let upper = name.to_string_lossy().to_ascii_uppercase();
        if taken.iter().any(|prefix| upper.starts_with(prefix)) {
            command.env_remove(name);
        }
    }
    command.envs(variables.iter().copied());
    command.output().unwrap()
}
