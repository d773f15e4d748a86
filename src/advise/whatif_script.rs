//! whatif.sh: the rules as arguments of `slotscope whatif`, ready to run on any dump.

use slotscope_advisor::findings::AdviseFindings;
use slotscope_engine::text::shell_word;

pub(super) fn text(findings: &AdviseFindings) -> String {
    let mut text = String::from(
        "#!/usr/bin/env bash\n# The cluster with the recommended hash tags, as slotscope advise found them.\n# Usage: bash whatif.sh DUMP --nodes N\n",
    );
    text += "exec slotscope whatif \"$@\"";
    for rule in &findings.rules {
        text += &format!(" \\\n  --retag {}", shell_word(rule));
    }
    text + "\n"
}
