//! Keys and compressed dumps for several test modules.

use std::io::Write;

use crate::rng::Rng;

/// Keys with and without tags, one of which is heavy; some keys have hostile bytes.
pub fn mixed_keys() -> Vec<Vec<u8>> {
    let key = |i: u32| match i % 5 {
        0 => format!("favorites:{}:news{:03}", i / 50, i % 50).into_bytes(),
        1 => format!("cfg:{{common}}:{i}").into_bytes(),
        2 => format!("cart:{{user:{}}}:{i}", i / 40).into_bytes(),
        3 => [b"\xff\x00{", i.to_string().as_bytes(), b"}\x80{}"].concat(),
        _ => format!("plain-{i}").into_bytes(),
    };
    (0..20_000).map(key).collect()
}

/// Keys with more tags than a table holds, and with more first segments, so that no level of patterns is coarse enough.
pub fn many_names(seed: u64) -> Vec<String> {
    let mut rng = Rng::new(seed);
    let mut word = || -> String {
        let letter = |_| char::from(b'a' + rng.below(26) as u8);
        (0..7).map(letter).collect()
    };
    let mut keys: Vec<String> = (0..80_000)
        .map(|i| format!("{}:{{t{i}}}:x", word()))
        .collect();
    for i in 0..12_000 {
        keys.insert(i * 7, format!("user:{i}:{{common}}:cart"));
    }
    keys
}

/// Truncates or damages a dump.
pub fn spoiled(mut dump: Vec<u8>, rng: &mut Rng) -> Vec<u8> {
    if rng.one_in(6) {
        dump.truncate(rng.below(dump.len()));
    }
    if rng.one_in(3) {
        for _ in 0..1 + rng.below(4) {
            let at = rng.below(dump.len() + 1);
            let odd = *rng.pick(&[
                &b"\xff"[..],
                b"\"",
                b"\n",
                b"\0",
                b"\\",
                b",",
                b"\n\n\n",
                b"7) \n",
            ]);
            dump.splice(at..at, odd.iter().copied());
        }
    }
    dump
}

/// One gzip member.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
