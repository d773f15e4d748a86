//! Short labels for nodes: long host names mostly differ in a few characters, which their common parts would hide.

use slotscope_base::name::Name;

/// Names up to this length are shown in full, except for a shared port: the longest IPv4 address with a port fits.
const WHOLE: usize = 24;
/// Labels are cut only at these bytes: suffixes at a domain or port, prefixes at a word of the host name.
const AT_THE_END: &[u8] = b".:";
const AT_THE_START: &[u8] = b".:-_/";

/// The number of bytes at the start and end that all names of a cluster share; labels leave them out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SharedParts {
    start: usize,
    end: usize,
}

impl SharedParts {
    /// Finds the shared parts of `names`. Short names lose only a shared port; a prefix goes only if names stay long
    /// without their suffix.
    pub fn new<'a>(names: impl Iterator<Item = &'a Name>) -> Self {
        let names: Vec<&[u8]> = names.map(|name| name.0.as_slice()).collect();
        let is_long = |end: usize| names.iter().any(|name| name.len() - end > WHOLE);
        if names.iter().all(|name| *name == names[0]) {
            return SharedParts::default();
        }
        if !is_long(0) {
            return SharedParts {
                start: 0,
                end: shared_port(&names),
            };
        }
        let end = shared_end(&names);
        SharedParts {
            start: if is_long(end) {
                shared_start(&names, end)
            } else {
                0
            },
            end,
        }
    }

    /// The label of a node: an ellipsis stands for a dropped prefix; a dropped domain and port leave no trace.
    pub fn label(self, name: &Name) -> Name {
        match name
            .0
            .get(self.start..name.0.len().saturating_sub(self.end))
        {
            // The ellipsis replaces the dot: no fourth dot.
            Some([b'.', label @ ..] | label) if self.start > 0 && !label.is_empty() => {
                Name(["…".as_bytes(), label].concat())
            }
            Some(label) => Name::from(label),
            None => name.clone(),
        }
    }
}

/// The length of the port with its colon, if all names end with the same port.
fn shared_port(names: &[&[u8]]) -> usize {
    let colon = |name: &[u8]| name.iter().rposition(|byte| *byte == b':');
    let port = |name: &&[u8]| Some(name[colon(name).filter(|at| *at > 0)?..].to_vec());
    let first =
        port(&names[0]).filter(|port| port.len() > 1 && port[1..].iter().all(u8::is_ascii_digit));
    let is_shared = first.is_some() && names.iter().all(|name| port(name) == first);
    first.filter(|_| is_shared).map_or(0, |port| port.len())
}

/// The length of the common suffix, starting at its first boundary.
fn shared_end(names: &[&[u8]]) -> usize {
    let first = names[0];
    let shared = |name: &&[u8]| {
        let pairs = first.iter().rev().zip(name.iter().rev());
        pairs.take_while(|(a, b)| a == b).count()
    };
    let shared = names.iter().map(shared).min().unwrap_or(0);
    // One name may be a suffix of another.
    let least = names
        .iter()
        .map(|name| name.len().saturating_sub(1))
        .min()
        .unwrap_or(0);
    let end = &first[first.len() - shared.min(least)..];
    let boundary = end.iter().position(|byte| AT_THE_END.contains(byte));
    boundary.map_or(0, |at| end.len() - at)
}

/// The length of the common prefix of all names minus their last `end` bytes, up to its last boundary.
fn shared_start(names: &[&[u8]], end: usize) -> usize {
    let first = names[0];
    let shared = |name: &&[u8]| {
        let pairs = first.iter().zip(&name[..name.len() - end]);
        pairs.take_while(|(a, b)| a == b).count()
    };
    let shared = names.iter().map(shared).min().unwrap_or(0);
    let boundary = first[..shared]
        .iter()
        .rposition(|byte| AT_THE_START.contains(byte));
    boundary.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(names: &[&str]) -> Vec<String> {
        let names: Vec<Name> = names.iter().map(|name| Name::from(*name)).collect();
        let shared = SharedParts::new(names.iter());
        names
            .iter()
            .map(|name| shared.label(name).to_string())
            .collect()
    }

    #[test]
    fn what_names_share_is_left_out_where_they_are_long() {
        let headless = ".redis-headless.production.svc.cluster.local:6379";
        let [first, second] = [0, 12].map(|at| format!("redis-{at}{headless}"));
        for (names, expected) in [
            // The domain and the port of long names.
            ([&*first, &*second], ["redis-0", "redis-12"]),
            // The words in front where names are still long.
            (
                [
                    "cache-production-eu-west-0001.example.com:6379",
                    "cache-production-eu-west-0017.example.com:6379",
                ],
                ["…-0001", "…-0017"],
            ),
            (
                [
                    "one-host-for-all-nodes.example.com:7000",
                    "one-host-for-all-nodes.example.com:7001",
                ],
                ["…:7000", "…:7001"],
            ),
            (
                [
                    "hosts.of.one.company.with-a-name-of-its-own",
                    "hosts.of.one.company.other",
                ],
                ["…with-a-name-of-its-own", "…other"],
            ),
            // The port of short names.
            (["shop-1:6379", "shop-2:6379"], ["shop-1", "shop-2"]),
            (
                ["255.255.255.251:65535", "255.255.255.252:65535"],
                ["255.255.255.251", "255.255.255.252"],
            ),
        ] {
            assert_eq!(labels(&names), expected);
        }
        for whole in [
            ["127.0.0.1:7000", "127.0.0.1:7001"],
            ["even-1", "even-2"],
            [":1", "a:1"],
            [&*first, &*first],
        ] {
            assert_eq!(labels(&whole), whole);
        }
        assert_eq!(labels(&[&*first]), [first]);
    }

    proptest! {
        #[test]
        fn names_that_differ_have_labels_that_differ(hosts in prop::collection::hash_set("[a-c.:-]{1,40}", 2..9)) {
            let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
            let labels = labels(&hosts);
            let distinct: std::collections::HashSet<_> = labels.iter().collect();
            prop_assert_eq!(distinct.len(), hosts.len());
            prop_assert!(labels.iter().all(|label| !label.is_empty() && label != "…"));
        }
    }
}
