//! Keys and compressed dumps that several modules read.

use std::io::Write;

/// Keys with and without tags, one tag of them heavy, some of hostile bytes.
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

/// One gzip member.
pub fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}
