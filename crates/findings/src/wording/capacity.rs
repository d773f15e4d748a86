//! The headroom of the node that fills up first, in one sentence.

use slotscope_engine::text::{bytes, short};

use crate::summary::capacity::FullestRoom;
use crate::wording::InWords;

impl InWords for FullestRoom {
    fn in_words(&self) -> String {
        let (node, used, limit) = (short(&self.node), bytes(self.used), bytes(self.maxmemory));
        let when = match self.months {
            Some(0.0) => format!("node {node} is full: it uses {used} of {limit}"),
            Some(months) => format!(
                "node {node} is full first, in {months:.1} months: it uses {used} of {limit}"
            ),
            None => format!("node {node} is the fullest: it uses {used} of {limit}"),
        };
        if self.measured {
            when
        } else {
            format!(
                "{when}; these are the dump's bytes, without the server's tables, buffers and fragmentation (--used-memory)"
            )
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_engine::name::Name;

    #[test]
    fn capacity_sentences_name_the_node_the_time_and_what_was_not_measured() {
        let room = FullestRoom {
            node: Name::from("even-1"),
            used: 500,
            maxmemory: 1000,
            months: Some(7.27),
            measured: false,
        };
        let sentence = room.in_words();
        assert!(
            sentence.contains("even-1 is full first, in 7.3 months"),
            "{sentence}"
        );
        assert!(sentence.contains("--used-memory"), "{sentence}");
        let over = FullestRoom {
            used: 1000,
            months: Some(0.0),
            measured: true,
            ..room
        };
        assert_eq!(
            over.in_words(),
            "node even-1 is full: it uses 1000 B of 1000 B"
        );
    }
}
