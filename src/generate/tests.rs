//! The promises of `generate`: distinct keys, fixed bytes, and the shares and lengths documented for its profiles.

use slotscope_engine::error::Error;
use std::collections::{HashMap, HashSet};

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

/// The share of keys whose hash tag is `tag`.
fn share(dump: &[u8], tag: &[u8]) -> f64 {
    let keys = lines(dump);
    let tagged = keys
        .iter()
        .filter(|key| key.windows(tag.len()).any(|window| window == tag))
        .count();
    tagged as f64 / keys.len() as f64
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

#[test]
fn the_bytes_of_a_seed_never_change() {
    let found: Vec<_> = PROFILES
        .iter()
        .map(|profile| (*profile, fnv(&dump(*profile, 100_000, 1))))
        .collect();
    let golden = [
        (Profile::Uniform, 16_438_380_863_344_900_446),
        (Profile::Tagged, 5_708_365_414_681_001_893),
        (Profile::HotTag, 9_703_667_137_970_729_732),
        (Profile::Commerce, 13_315_508_682_678_078_196),
        (Profile::ZipfTail, 2_576_572_099_710_076_751),
    ];
    assert_eq!(
        found, golden,
        "users' saved commands would give other dumps"
    );
}

#[test]
fn another_seed_gives_other_keys() {
    for profile in PROFILES {
        assert_ne!(dump(profile, 100, 1), dump(profile, 100, 2));
    }
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
fn shares_are_thousandths() {
    for profile in PROFILES {
        assert_eq!(
            profile
                .shares()
                .iter()
                .map(|(share, _)| share)
                .sum::<usize>(),
            DECK,
            "{profile:?}"
        );
    }
}

#[test]
fn commerce_keys_are_34_bytes_on_average_and_a_coarse_tag_holds_a_few_percent() {
    let dump = dump(Profile::Commerce, 200_000, 1);
    let mean = dump.len() as f64 / 200_000.0 - 1.0;
    assert!((33.0..35.0).contains(&mean), "{mean}");
    assert!((0.068..0.072).contains(&share(&dump, b"{common}")));
}

#[test]
fn one_tag_holds_twelve_percent_of_hot_tag() {
    assert!((0.118..0.122).contains(&share(&dump(Profile::HotTag, 200_000, 1), b"{config}")));
}

#[test]
fn uniform_has_no_tags_and_tagged_nothing_else() {
    assert_eq!(share(&dump(Profile::Uniform, 10_000, 1), b"{"), 0.0);
    assert_eq!(
        share(&dump(Profile::Tagged, 10_000, 1), b"favorites:{fav:"),
        1.0
    );
}

/// The number of keys per tag, heaviest first.
fn tags(dump: &[u8]) -> Vec<u32> {
    let mut counts: HashMap<&[u8], u32> = HashMap::new();
    for key in lines(dump) {
        let tag = key.split(|byte| matches!(byte, b'{' | b'}')).nth(1);
        if let Some(tag) = tag {
            *counts.entry(tag).or_default() += 1;
        }
    }
    let mut counts: Vec<u32> = counts.into_values().collect();
    counts.sort_unstable_by(|a, b| b.cmp(a));
    counts
}

#[test]
fn more_than_half_of_the_keys_of_zipf_tail_have_tags_most_of_which_hold_few() {
    let counts = tags(&dump(Profile::ZipfTail, 1_000_000, 1));
    let tagged: u32 = counts.iter().sum();
    assert!((548_000..552_000).contains(&tagged), "{tagged}");
    assert!(
        (180_000..260_000).contains(&counts.len()),
        "{}",
        counts.len()
    );
    // ln(2^23) + 0.577 is 16.5, the sum of all weights.
    assert!((32_500..34_200).contains(&counts[0]), "{}", counts[0]);
}

#[test]
fn the_heaviest_tag_of_tagged_has_its_zipf_share() {
    let counts = tags(&dump(Profile::Tagged, 200_000, 1));
    assert!(
        (0.080..0.086).contains(&(f64::from(counts[0]) / 200_000.0)),
        "{}",
        counts[0]
    );
    assert!(
        (1.9..2.1).contains(&(f64::from(counts[0]) / f64::from(counts[1]))),
        "{counts:?}"
    );
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
