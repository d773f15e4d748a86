//! A scratch directory that the program runs in, and what a run says.

use std::fs;
use std::process::{Command, Stdio};

/// The directory; dropping it removes it.
pub struct Scratch(tempfile::TempDir);

/// What a run ended with and printed.
pub struct Said {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Scratch {
    pub fn new() -> Self {
        Scratch(tempfile::tempdir().unwrap())
    }

    /// Writes a file; its name is relative to where the program runs.
    pub fn file(&self, name: &str, content: &[u8]) {
        fs::write(self.0.path().join(name), content).unwrap();
    }

    /// Runs `slotscope COMMAND ARGS`.
    pub fn run(&self, command: &str, args: &[&str]) -> Said {
        let mut program = Command::new(env!("CARGO_BIN_EXE_slotscope"));
        program.arg(command).args(args).current_dir(self.0.path()).stdin(Stdio::null());
        let output = program.env_remove("SLOTSCOPE_KERNEL").env_remove("CLICOLOR_FORCE").output().unwrap();
        let text = |bytes| String::from_utf8(bytes).unwrap();
        let code = output.status.code().expect("it was not killed");
        Said { code, out: text(output.stdout), err: text(output.stderr) }
    }

    /// The run fails with 2, one line that says `part`, and no result.
    pub fn fails(&self, command: &str, args: &[&str], part: &str) {
        let said = self.run(command, args);
        assert_eq!((said.code, said.out.as_str()), (2, ""), "{args:?}: {}", said.err);
        assert!(said.err.starts_with("slotscope: ") && said.err.lines().count() == 1, "{args:?}: {}", said.err);
        assert!(said.err.contains(part), "{args:?}: no \"{part}\" in {}", said.err);
    }
}
