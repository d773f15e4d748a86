//! whatif.sh: the rules as words of `slotscope whatif`, ready to be run on any dump.

use slotscope_advisor::findings::AdviseFindings;
use slotscope_engine::text::{counted, shell_word};

/// The script.
pub(super) fn text(findings: &AdviseFindings) -> String {
    // Bytes that move a terminal's cursor are left to the JSON.
    let (shown, hidden): (Vec<&String>, Vec<&String>) = findings
        .rules
        .iter()
        .partition(|rule| !rule.chars().any(char::is_control));
    let mut text = String::from(
        "#!/bin/sh\n# The cluster with the recommended hash tags, as slotscope advise found them.\n# Usage: sh whatif.sh DUMP --nodes N\n",
    );
    if !hidden.is_empty() {
        let left_out = counted(hidden.len() as u64, "rule");
        text += &format!("# Left out, {left_out} with control characters: see advise.json.\n");
    }
    text += "exec slotscope whatif \"$@\"";
    for rule in shown {
        text += &format!(" \\\n  --retag {}", shell_word(rule));
    }
    text + "\n"
}
