//! Lines of CLUSTER NODES seen before. Each of n nodes lists all n, so polling a cluster of thousands means millions of
//! lines, nearly all of them repeats: a repeat costs only a hash.

use std::collections::HashSet;

use slotscope_engine::hash::hash;

/// Digests of the lines seen, without the fields that differ from node to node: the ping and pong times, and the link
/// state.
#[derive(Debug, Default)]
pub struct SeenLines(HashSet<u64>);

impl SeenLines {
    /// The new lines of a listing, with their digests; without one if a line must be parsed every time. `None` if the
    /// listing has more than `most` lines.
    pub fn new_in<'t>(&self, text: &'t str, most: usize) -> Option<Vec<(Option<u64>, &'t str)>> {
        let (mut new, mut lines) = (Vec::new(), 0);
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            lines += 1;
            let digest = digest(line);
            if !digest.is_some_and(|digest| self.0.contains(&digest)) {
                new.push((digest, line));
            }
        }
        (lines <= most).then_some(new)
    }

    /// Marks the line with this digest as seen.
    pub fn add(&mut self, digest: u64) {
        self.0.insert(digest);
    }

    /// The number of digests.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was seen.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Forgets all of them.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// `None` for a line of another form, and for one without an address: that is the queried node itself, whose address is
/// known from the connection.
fn digest(line: &str) -> Option<u64> {
    let line = line.as_bytes();
    let mut at = 0;
    let mut after = |spaces: usize| {
        for _ in 0..spaces {
            at += 1 + memchr::memchr(b' ', &line[at..])?;
        }
        Some(at)
    };
    let (place, flags, primary) = (after(1)?, after(1)?, after(1)?);
    let (ping, epoch, link) = (after(1)?, after(2)?, after(1)?);
    let slots = after(1).unwrap_or(line.len());
    let parts = [&line[..ping], &line[epoch..link], &line[slots..]].map(hash);
    let bytes: [u8; 24] = std::array::from_fn(|at| parts[at / 8].to_le_bytes()[at % 8]);
    let is_of_itself = line[flags..primary].starts_with(b"myself");
    (line[place] != b':' && !is_of_itself).then(|| hash(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_of_a_line_but_of_times_and_links_is_seen() {
        let line = "b h:2@2 master - 5 6 3 connected 9-19";
        for same in [
            "b h:2@2 master - 7 8 3 connected 9-19",
            "b h:2@2 master - 5 6 3 disconnected 9-19",
        ] {
            assert_eq!(digest(line), digest(same));
        }
        for other in [
            "c h:2@2 master - 5 6 3 connected 9-19",
            "b h:3@2 master - 5 6 3 connected 9-19",
            "b h:2@2 master,fail? - 5 6 3 connected 9-19",
            "b h:2@2 slave a 5 6 3 connected 9-19",
            "b h:2@2 master - 5 6 4 connected 9-19",
            "b h:2@2 master - 5 6 3 connected 9-18",
            "b h:2@2 master - 5 6 3 connected",
        ] {
            assert!(
                digest(other).is_some() && digest(line) != digest(other),
                "{other}"
            );
        }
        for odd in [
            "",
            "b",
            "b :2@2 master - 5 6 3 connected",
            "b h:2@2 myself,master - 5 6 3 connected",
            "b h:2@2 master - 5 6 ",
        ] {
            assert_eq!(digest(odd), None, "{odd}");
        }
    }

    #[test]
    fn lines_that_were_read_are_passed_over_and_long_listings_are_none() {
        let text =
            "a h:1@2 master - 0 0 1 connected\nb h:2@2 myself,master - 0 0 1 connected\r\n\n";
        let mut seen = SeenLines::default();
        let new = seen.new_in(text, 2).unwrap();
        assert_eq!(new.len(), 2);
        new.iter().for_each(|(digest, _)| {
            digest.iter().for_each(|digest| seen.add(*digest));
        });
        assert_eq!(seen.len(), 1);
        let again = seen.new_in(text, 2).unwrap();
        assert!(again.len() == 1 && again[0].1.starts_with("b "));
        assert_eq!(seen.new_in(text, 1), None);
    }
}
