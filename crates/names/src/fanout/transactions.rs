//! Open transactions: one in a command list, one per client in a MONITOR capture.

use std::collections::HashMap;

use slotscope_read::format::parse::words::Word;

use crate::fanout::batch::Batch;

/// Maximum open transactions, and bytes of keys kept for each.
const MOST: usize = 1024;
const ROOM: usize = 1 << 14;

/// The open transactions by client.
#[derive(Default)]
pub(super) struct Transactions {
    open: HashMap<Vec<u8>, Batch>,
    /// Transactions without a visible start or end; they are ignored.
    pub torn: u64,
}

impl Transactions {
    /// Whether `client` has an open transaction.
    pub(super) fn is_open(&self, client: &[u8]) -> bool {
        !self.open.is_empty() && self.open.contains_key(client)
    }

    /// Starts a transaction of `client`; an open one must have ended unseen.
    pub(super) fn begin(&mut self, client: &[u8]) {
        if self.open.len() >= MOST && !self.is_open(client) {
            self.torn += 1;
            return;
        }
        let torn = self.open.insert(client.to_vec(), Batch::with_room(ROOM));
        self.torn += u64::from(torn.is_some());
    }

    /// Queues a command of `client`, if it has an open transaction, with keys in `slots`.
    pub(super) fn queue(&mut self, client: &[u8], slots: &[u16], keys: Vec<Word<'_>>) {
        if let Some(batch) = self.open.get_mut(client) {
            batch.add(slots, keys);
        }
    }

    /// Ends the transaction of `client`.
    pub(super) fn end(&mut self, client: &[u8]) -> Option<Batch> {
        self.open.remove(client)
    }

    /// Ends all transactions; returns their number.
    pub(super) fn end_all(&mut self) -> u64 {
        let open = self.open.len() as u64;
        self.open.clear();
        open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_have_their_own_and_no_more_are_open_than_fit() {
        let mut transactions = Transactions::default();
        for client in 0..2 * MOST as u64 {
            transactions.begin(&client.to_le_bytes());
        }
        assert_eq!(transactions.torn, MOST as u64);
        let client = 7u64.to_le_bytes();
        transactions.queue(&client, &[5], vec![b"k"[..].into()]);
        transactions.queue(b"other", &[5], Vec::new());
        assert_eq!(transactions.end(&client).unwrap().keys, 1);
        assert!(transactions.end(b"other").is_none());
        transactions.begin(&8u64.to_le_bytes());
        assert_eq!(transactions.torn, MOST as u64 + 1, "begun anew");
        assert_eq!(transactions.end_all(), MOST as u64 - 1);
    }
}
