//! The headroom of the node that fills up first, in one sentence.

use slotscope_base::name::Name;
use slotscope_base::text::{bytes, short};

/// The node that is full first, in `months`: 0 if it is full already, `None` without growth. `is_measured`: `used` is
/// from a server rather than computed from the dump.
pub(crate) fn full_first(
    node: &Name,
    (used, maxmemory): (u64, u64),
    months: Option<f64>,
    is_measured: bool,
) -> String {
    let (node, used, limit) = (short(node), bytes(used), bytes(maxmemory));
    let when = match months {
        Some(0.0) => format!("node {node} is full: it uses {used} of {limit}"),
        Some(months) => {
            format!("node {node} is full first, in {months:.1} months: it uses {used} of {limit}")
        }
        None => format!("node {node} is the fullest: it uses {used} of {limit}"),
    };
    if is_measured {
        when
    } else {
        format!(
            "{when}; these are the dump's bytes, without the server's tables, buffers and fragmentation (--used-memory)"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn capacity_sentences_name_the_node_the_time_and_what_was_not_measured() {
        let node = Name::from("even-1");
        let sentence = full_first(&node, (500, 1000), Some(7.27), false);
        assert!(
            sentence.contains("even-1 is full first, in 7.3 months"),
            "{sentence}"
        );
        assert!(sentence.contains("--used-memory"), "{sentence}");
        assert_eq!(
            full_first(&node, (1000, 1000), Some(0.0), true),
            "node even-1 is full: it uses 1000 B of 1000 B"
        );
    }
}
