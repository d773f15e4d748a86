//! The `slotscope` program: parse the flags, run the command, print one error line, choose the exit code.

fn main() {}
