//! A line of CLUSTER NODES; nodes.conf has the same lines.
//!
//! ```text
//! <id> <ip:port[@bus port][,hostname[,...]]> <flags> <its primary or -> <ping> <pong> <epoch> <link> <slots>...
//! ```
//! Source: the CLUSTER NODES page of the Redis documentation, `clusterGenNodeDescription` in its source.

use crate::ranges;
use crate::ranges::number;

/// A parsed node line that borrows its words.
pub struct NodeLine<'a> {
    /// The id.
    pub id: &'a str,
    /// The address, "" if unknown.
    pub ip: &'a str,
    /// The hostname, "" if unknown.
    pub hostname: &'a str,
    /// The port; 0 if unknown.
    pub port: u64,
    flags: &'a str,
    /// The id of its primary, or `-`.
    pub primary: &'a str,
    /// The config epoch of its slots.
    pub epoch: &'a str,
    slots: std::str::SplitAsciiWhitespace<'a>,
}

/// A word after the link state of a node.
#[derive(Debug, PartialEq, Eq)]
pub enum Slots<'a> {
    /// A slot range; order and size are not checked.
    Range(u64, u64),
    /// A slot in migration.
    InFlight {
        /// The slot number, not range-checked.
        slot: u64,
        /// The id of the source node.
        from: &'a str,
        /// The id of the target node.
        to: &'a str,
    },
    /// Any other word.
    Other(&'a str),
}

impl<'a> NodeLine<'a> {
    /// Parses a line; `None` if it has another form.
    pub fn parse(line: &'a str) -> Option<Self> {
        let mut fields = line.split_ascii_whitespace();
        let mut next = || fields.next();
        let (id, place, flags, primary) = (next()?, next()?, next()?, next()?);
        let (_ping, _pong, epoch, link) = (next()?, next()?, next()?, next()?);
        if !matches!(link, "connected" | "disconnected") {
            return None;
        }
        let mut parts = place.split(',');
        let endpoint = parts.next()?;
        // IPv6 addresses have no brackets, so the port starts at the last colon.
        let (ip, port) = endpoint
            .rsplit_once('@')
            .map_or(endpoint, |(endpoint, _bus)| endpoint)
            .rsplit_once(':')?;
        Some(NodeLine {
            id,
            ip,
            hostname: parts.next().unwrap_or_default(),
            port: number(port)?,
            flags,
            primary,
            epoch,
            slots: fields,
        })
    }

    /// Whether the node has a flag.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.split(',').any(|known| known == flag)
    }

    /// Whether it is a replica, in the spelling of any version.
    pub fn is_replica(&self) -> bool {
        self.has("slave") || self.has("replica")
    }

    /// Its slots.
    pub fn slots(&self) -> impl Iterator<Item = Slots<'a>> {
        let id = self.id;
        self.slots.clone().map(move |word| {
            let range = || ranges::parse(word).map(|(first, last)| Slots::Range(first, last));
            in_flight(word, id)
                .or_else(range)
                .unwrap_or(Slots::Other(word))
        })
    }
}

/// `[12->-to]` or `[12-<-from]` on the line of node `id`.
fn in_flight<'a>(word: &'a str, id: &'a str) -> Option<Slots<'a>> {
    let word = word.strip_prefix('[')?.strip_suffix(']')?;
    let (slot, from, to) = match (word.split_once("->-"), word.split_once("-<-")) {
        (Some((slot, to)), _) => (slot, id, to),
        (_, Some((slot, from))) => (slot, from, id),
        _ => return None,
    };
    let slot = number(slot)?;
    Some(Slots::InFlight { slot, from, to })
}
