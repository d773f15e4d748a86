#![cfg_attr(fuzzing, no_main)]

slotscope_fuzz::target!("shapes");
