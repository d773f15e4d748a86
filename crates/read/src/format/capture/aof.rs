//! `aof`: append-only files, and client traffic in RESP: commands as arrays of bulk strings. Each key of a command is
//! an operation. Values may be hundreds of megabytes and are skipped.

use crate::format::capture::commands::CommandSteps;
use crate::format::capture::recognised;
use crate::format::frame::walk::Walked;
use crate::format::{Detected, Format, Head, Opened};

/// The format.
pub struct Aof;

impl Format for Aof {
    fn name(&self) -> &'static str {
        "aof"
    }

    fn example(&self) -> &'static str {
        r"#TS:1795216373\r\n*2\r\n$4\r\nINCR\r\n$19\r\nuser:{1000}:profile\r\n (append-only files: appendonly.aof.1.incr.aof)"
    }

    fn detect(&self, head: Head<'_>) -> Detected {
        recognised::in_resp(head)
    }

    fn note(&self) -> Option<&'static str> {
        Some(
            "an append-only file has writes that took effect; reads and failed commands are not in it",
        )
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(Opened::Walk {
            format: self.name(),
            walk: |input, _| Box::new(Walked::new(CommandSteps::new(input))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::Notice;
    use crate::format::growth::assert_linear;
    use crate::format::reading::{assert_reads, named, read_whole};

    /// A command.
    fn command(words: &[&[u8]]) -> Vec<u8> {
        let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
        for word in words {
            bytes.extend(format!("${}\r\n", word.len()).bytes());
            bytes.extend_from_slice(word);
            bytes.extend(b"\r\n");
        }
        bytes
    }

    #[test]
    fn each_key_of_a_command_is_an_operation_at_the_time_before_it() {
        let value = vec![b'x'; 1 << 20];
        let file = [
            command(&[b"SELECT", b"2"]),
            command(&[b"SET", b"a\r\n\0", &value]),
            b"#TS:5\r\n#anything else\r\n".to_vec(),
            command(&[b"mset", b"b", b"1", b"c", b"2"]),
            command(&[b"MULTI"]),
            command(&[b"EVAL", b"return 1", b"1", b"d"]),
            b"#TS:9\r\n".to_vec(),
            command(&[b"FT.ADD", b"x", b"1", b"{}"]),
            b"*0\r\n".to_vec(),
            command(&[b"INCR"]),
            command(&[b"RPOPLPUSH", b"e", b"f"]),
        ]
        .concat();
        let expected = r"a\r\n\x00 by=set database=2; b by=mset database=2 at=5000; c by=mset database=2 at=5000; d by=eval database=2 at=5000; e by=rpoplpush database=2 at=9000; f by=rpoplpush database=2 at=9000; !1048805; NoKeyCommand=2; UnknownCommand=1; Command=1 at 1048763: FT.ADD";
        assert_reads(&Aof, &[(&file, expected)]);
        assert_eq!(named(&file, true), Some("aof"));
        let second = read_whole(&Aof, &file[file.len() - 70..]);
        assert!(second.damage.is_some(), "the middle of a command is none");
    }

    #[test]
    fn a_first_value_that_is_longer_than_the_head_hides_no_command() {
        let value = vec![b'x'; 200_000];
        let file = command(&[b"SET", b"k", &value]).repeat(2);
        assert_eq!(named(&file[..64 << 10], false), None, "more is to be seen");
        assert_eq!(named(&file[..300_000], false), Some("aof"));
        // No key is this long, so its content is not needed.
        let longer = b"*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$100000000\r\nxxx";
        assert_eq!(named(longer, false), Some("aof"));
        // A reply whose first key is named like a command.
        let keys = "$6\r\nuser:1\r\n".repeat(9_998);
        let reply = format!("*9999\r\n$3\r\nGET\r\n{keys}");
        assert_eq!(named(reply, true), Some("resp"));
    }

    #[test]
    fn a_command_of_many_keys_fills_batches_and_the_next_one_follows() {
        let names: Vec<String> = (0..10_000).map(|i| format!("k:{i}")).collect();
        let mut words: Vec<&[u8]> = vec![b"DEL"];
        words.extend(names.iter().map(String::as_bytes));
        let first = command(&words);
        let found = read_whole(&Aof, &[&first[..], &command(&[b"INCR", b"n"])].concat());
        let offsets = &found.values.offsets;
        assert!(found.keys[..10_000].iter().eq(words[1..].iter()));
        assert_eq!(found.keys[10_000..], [b"n"]);
        assert!(offsets[..10_000].iter().all(|at| *at == 0));
        assert_eq!(offsets[10_000..], [first.len() as u64]);
    }

    #[test]
    fn a_torn_end_is_noted_and_all_before_it_is_counted() {
        let whole = command(&[b"SET", b"key", b"value"]);
        for cut in 1..whole.len() {
            let found = read_whole(&Aof, &[&whole, &whole[..cut]].concat());
            assert_eq!(found.keys, [b"key"], "{cut}");
            assert_eq!(found.seen.count(Notice::TornCommand), 1, "{cut}");
            assert!(found.damage.is_none());
        }
    }

    #[test]
    fn words_behind_those_that_are_kept_take_no_longer_each_the_more_there_are() {
        assert_linear(50_000, |words| {
            let long = vec![b'x'; 1 << 20];
            let mut all: Vec<&[u8]> = vec![b"DEL"];
            all.resize(66, &long);
            all.resize(66 + words, b"k");
            let found = read_whole(&Aof, &command(&all));
            assert_eq!((found.keys.len(), found.rejects.len()), (63, words + 2));
        });
    }

    #[test]
    fn what_is_no_command_ends_the_walk_at_its_place() {
        let whole = command(&[b"SET", b"key", b"value"]);
        let endless = b"*".repeat(1 << 10);
        for bad in [
            &b"+OK\r\n"[..],
            b"*x\r\n",
            b"*-1\r\n",
            b"*1048577\r\n",
            b"*1\r\n:5\r\n",
            b"*1\r\n$-1\r\n",
            b"*1\r\n$1\r\nab\r\n",
            b"*1\r\n$99999999999999\r\n",
            b"*1\r\n$99999999999999999999\r\n",
            &endless,
        ] {
            let found = read_whole(&Aof, &[&whole[..], bad].concat());
            assert_eq!(found.keys, [b"key"]);
            let damage = found.damage.unwrap();
            let place = whole.len() as u64..(whole.len() + bad.len()) as u64;
            assert!(place.contains(&damage.offset), "{damage:?}");
        }
    }
}
