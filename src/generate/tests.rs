//! The promises of `generate`: distinct keys and fixed bytes, which are those of profiles with their documented shares.

use slotscope_base::error::Error;
use std::collections::HashSet;

use crate::generate::*;

const PROFILES: [Profile; 5] = [
    Profile::Uniform,
    Profile::Tagged,
    Profile::HotTag,
    Profile::Commerce,
    Profile::ZipfTail,
];

fn dump(profile: Profile, keys: u64, seed: u64) -> Vec<u8> {
    let mut dump = Vec::new();
    Generate {
        profile,
        keys,
        seed,
    }
    .write_to(&mut dump)
    .unwrap();
    dump
}

fn lines(dump: &[u8]) -> Vec<&[u8]> {
    let mut lines: Vec<_> = dump.split(|byte| *byte == b'\n').collect();
    assert_eq!(lines.pop(), Some(&b""[..]), "a dump ends with a line");
    lines
}

/// FNV-1a of 64 bits.
fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01B3)
    })
}

#[test]
fn a_million_keys_of_every_profile_are_distinct() {
    for profile in PROFILES {
        let dump = dump(profile, 1_000_000, 1);
        let keys = lines(&dump);
        assert_eq!(keys.len(), 1_000_000);
        assert_eq!(
            keys.into_iter().collect::<HashSet<_>>().len(),
            1_000_000,
            "{profile:?}"
        );
    }
}

/// The commands of samples/README.md have the bytes of the other profiles.
#[test]
fn the_bytes_of_a_seed_never_change() {
    let found = fnv(&dump(Profile::ZipfTail, 100_000, 1));
    assert_eq!(
        found, 2_576_572_099_710_076_751,
        "users' saved commands would give other dumps"
    );
}

#[test]
fn a_shorter_dump_is_the_beginning_of_a_longer_one() {
    for profile in PROFILES {
        let long = dump(profile, 20_000, 5);
        assert!(long.len() > PAGE_BYTES, "more than one page");
        assert!(long.starts_with(&dump(profile, 7_000, 5)));
    }
}

#[test]
fn no_keys_are_no_bytes() {
    assert!(dump(Profile::Commerce, 0, 1).is_empty());
}

#[test]
fn an_output_that_fails_is_an_error_not_a_panic() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let generate = Generate {
        profile: Profile::Uniform,
        keys: 10,
        seed: 1,
    };
    let error = generate.write_to(&mut Closed).unwrap_err();
    assert!(matches!(Error::stdout(error), Error::BrokenPipe));
}
