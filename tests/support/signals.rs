//! Signals to processes that tests started.

use std::process::{Child, Command};

/// Sends a signal, such as `INT`.
pub fn signal(process: u32, name: &str) {
    let sent = Command::new("kill")
        .args(["-s", name, &process.to_string()])
        .status();
    assert!(sent.unwrap().success(), "{name} to {process}");
}

/// Does something while a program is stopped, so that the program does nothing meanwhile, however fast it is.
pub fn while_stopped<T>(program: &Child, action: impl FnOnce() -> T) -> T {
    /// Also where the action panics.
    struct Continues(u32);
    impl Drop for Continues {
        fn drop(&mut self) {
            signal(self.0, "CONT");
        }
    }
    signal(program.id(), "STOP");
    let _continues = Continues(program.id());
    action()
}
