//! Runs of the program as a user with few processes and threads, which only root can start.

use std::process::Output;

use crate::run::{Scratch, stderr};

/// Another user, and a copy of the program that it can run.
pub struct Limited {
    user: u32,
    home: Scratch,
}

impl Limited {
    /// A user without other processes. `None`, and a line that says so, if no such run is possible here.
    pub fn user(user: u32) -> Option<Limited> {
        let home = Scratch::new();
        home.program();
        let limited = Limited { user, home };
        let probe = limited.run(&limited.home, 100, "--version");
        if !probe.status.success() {
            eprintln!("NOT TESTED: no run as another user: {}", stderr(&probe));
        }
        probe.status.success().then_some(limited)
    }

    /// `slotscope LINE` with at most this many processes and threads.
    pub fn run(&self, scratch: &Scratch, most: u64, line: &str) -> Output {
        let (user, home) = (self.user, self.home.path(""));
        let open = format!("chmod 777 . {}; export TMPDIR=$PWD", home.display());
        let user = format!("setpriv --reuid {user} --regid {user} --clear-groups");
        let program = self.home.path("slotscope");
        scratch.shell(format!(
            "{open}; exec prlimit --nproc={most}:{most} {user} {} {line}",
            program.display()
        ))
    }
}
