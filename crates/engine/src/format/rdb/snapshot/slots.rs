//! Slot headers: a server in cluster mode writes keys slot by slot, each preceded by the number of keys. They are
//! checked against the keys read: their number, and the slot of the first.

use std::ops::RangeInclusive;

use hashslot::SLOTS;

/// A slot header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SlotHeader {
    /// The slot.
    pub slot: u64,
    /// The number of its keys.
    pub keys: u64,
    /// The number of its keys with a TTL.
    pub expires: u64,
}

impl SlotHeader {
    /// Parses Valkey's text form: the three numbers separated by commas, possibly followed by more.
    pub(super) fn parse(text: &[u8]) -> Option<SlotHeader> {
        let mut numbers = std::str::from_utf8(text).ok()?.split(',').map(str::parse);
        let mut next = || numbers.next()?.ok();
        Some(SlotHeader {
            slot: next()?,
            keys: next()?,
            expires: next()?,
        })
    }
}

/// Checks the keys after a header: how many there are, and the slot of the first.
#[derive(Debug, Default)]
pub(super) struct SlotCheck {
    header: Option<(u64, SlotHeader)>,
    seen: SlotCounts,
    /// Whether there was any header.
    pub is_any: bool,
}

#[derive(Debug, Default)]
struct SlotCounts {
    keys: u64,
    expires: u64,
    is_elsewhere: bool,
}

impl SlotCheck {
    /// The slot whose keys are being read.
    pub(super) fn slot(&self) -> Option<u64> {
        self.header.map(|(_, header)| header.slot)
    }

    /// Counts a key.
    pub(super) fn key(&mut self, key: &[u8], expires: bool) {
        self.keys(key, 1, u64::from(expires));
    }

    /// Counts keys that start with this one.
    pub(super) fn keys(&mut self, first: &[u8], keys: u64, expires: u64) {
        if let Some((_, header)) = self.header {
            let seen = &mut self.seen;
            if seen.keys == 0 {
                seen.is_elsewhere = u64::from(hashslot::slot(first)) != header.slot;
            }
            seen.keys += keys;
            seen.expires += expires;
        }
    }

    /// Counts a key of unknown slot.
    pub(super) fn unread(&mut self, expires: bool) {
        self.seen.keys += 1;
        self.seen.expires += u64::from(expires);
    }

    /// Ends the keys of a slot and starts those of the header at `next`, if any. If the ended keys differ from their
    /// header, returns the position and a description.
    pub(super) fn end(&mut self, next: Option<(u64, SlotHeader)>) -> Option<(u64, String)> {
        self.is_any |= next.is_some();
        let counts = std::mem::take(&mut self.seen);
        let (at, header) = std::mem::replace(&mut self.header, next)?;
        Some((at, counts.differ(header)?))
    }
}

impl SlotCounts {
    /// Describes how the keys differ from a header.
    fn differ(&self, header: SlotHeader) -> Option<String> {
        let SlotHeader {
            slot,
            keys,
            expires,
        } = header;
        if self.is_elsewhere {
            return Some(format!(
                "keys below the header of slot {slot} are of another slot"
            ));
        }
        ((self.keys, self.expires) != (keys, expires)).then(|| {
            format!(
                "the header of slot {slot} says {keys} keys, {expires} of which expire; there are {} and {}",
                self.keys, self.expires
            )
        })
    }
}

/// Slots being imported: their keys are in the source node's file too.
///
/// Union-find: each slot points at or after itself, towards the next slot that is not imported; such a slot points to
/// itself. Each slot is thus added once, however many ranges contain it.
#[derive(Debug, Clone, Default)]
pub(super) struct Imported(Vec<u16>);

impl Imported {
    /// Adds a range of slots; slots out of range are ignored.
    pub(super) fn add(&mut self, range: RangeInclusive<u64>) {
        if self.0.is_empty() {
            self.0 = (0..=SLOTS as u16).collect();
        }
        let end = (*range.end()).saturating_add(1).min(SLOTS as u64) as u16;
        let mut slot = self.next_other((*range.start()).min(SLOTS as u64) as u16);
        while slot < end {
            self.0[usize::from(slot)] = slot + 1;
            slot = self.next_other(slot + 1);
        }
    }

    /// The first slot from `slot` on that is not imported, with path halving.
    fn next_other(&mut self, mut slot: u16) -> u16 {
        let next = &mut self.0;
        while next[usize::from(slot)] != slot {
            let behind = next[usize::from(slot)];
            next[usize::from(slot)] = next[usize::from(behind)];
            slot = behind;
        }
        slot
    }

    /// Whether a key is in one of them.
    #[inline]
    pub(super) fn has(&self, key: &[u8]) -> bool {
        let is_in = |slot: u16| self.0[usize::from(slot)] != slot;
        !self.0.is_empty() && is_in(hashslot::slot(key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::growth::cpu_time_of;
    use std::time::Duration;

    fn header(keys: u64, expires: u64) -> Option<(u64, SlotHeader)> {
        let slot = 7629;
        Some((
            100,
            SlotHeader {
                slot,
                keys,
                expires,
            },
        ))
    }

    #[test]
    fn a_header_agrees_with_the_keys_below_it_or_is_reported() {
        let check = |of: Option<(u64, SlotHeader)>, keys: &[(&[u8], bool)]| {
            let mut check = SlotCheck::default();
            assert_eq!(check.end(of), None);
            keys.iter()
                .for_each(|(key, expires)| check.key(key, *expires));
            check.end(None)
        };
        assert_eq!(check(header(2, 1), &[(b"k", true), (b"{k}2", false)]), None);
        assert_eq!(check(None, &[(b"k", true)]), None);
        for (header, keys) in [
            (header(2, 0), &[(&b"k"[..], false)][..]),
            (header(1, 1), &[(b"k", false)]),
            (header(1, 0), &[(b"l", false)]),
        ] {
            assert_eq!(check(header, keys).unwrap().0, 100);
        }
    }

    #[test]
    fn the_text_of_a_header_has_three_numbers_or_more() {
        let found = SlotHeader::parse(b"7629,2,1,0");
        assert_eq!(found, header(2, 1).map(|(_, header)| header));
        for text in [&b"7629,2"[..], b"", b"a,1,1", b"\xFF,1,1", b"7629,2,-1"] {
            assert_eq!(SlotHeader::parse(text), None);
        }
    }

    #[test]
    fn a_range_that_adds_nothing_takes_no_longer_the_wider_it_is() {
        let ranges = |last: u64| {
            cpu_time_of(|| {
                let mut imported = Imported::default();
                (0..1_000_000).for_each(|_| imported.add(0..=last));
                assert!(imported.has(b"{06S}"), "slot 0");
            })
        };
        let (narrow, wide) = (ranges(0), ranges(u64::MAX));
        assert!(
            wide < 4 * narrow + Duration::from_millis(20),
            "{narrow:?}, {wide:?}"
        );
    }

    #[test]
    fn imported_slots_are_those_of_all_ranges_in_any_order() {
        let ranges = [
            (16_000, 20_000),
            (5, 3),
            (100, 200),
            (50, 150),
            (90, 300),
            (0, 0),
            (16_383, 16_383),
        ];
        let mut imported = Imported::default();
        ranges
            .iter()
            .for_each(|(first, last)| imported.add(*first..=*last));
        for i in 0..100_000 {
            let key = format!("key:{i}");
            let slot = u64::from(hashslot::slot(key.as_bytes()));
            let is_in = ranges
                .iter()
                .any(|(first, last)| (*first..=*last).contains(&slot));
            assert_eq!(imported.has(key.as_bytes()), is_in, "slot {slot}");
        }
    }

    #[test]
    fn imported_slots_are_ranges() {
        let mut imported = Imported::default();
        assert!(!imported.has(b"k"));
        imported.add(7600..=u64::MAX);
        assert!(imported.has(b"k") && imported.has(b"{foo}1"));
        assert!(!imported.has(b"{name}") && hashslot::slot(b"{name}") < 7600);
    }
}
