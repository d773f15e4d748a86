//! The format of tally files: a skippable zstd frame with the schema, which identifies the file, and one zstd frame
//! with a checksum, containing JSON: `zstd -d` prints it.
//!
//! Equal values give equal bytes. Files are untrusted: decompressed size is limited, and every part is validated before
//! use.

use std::io::{Read, Write};

use serde::Serialize;
use serde::de::DeserializeOwned;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;

use crate::partial::TALLY_FILE;

/// The start of a skippable frame.
const SKIPPABLE: [u8; 4] = [0x5E, 0x2A, 0x4D, 0x18];
/// Maximum length of a schema name.
const MAX_SCHEMA: usize = 64;
/// The prefix of all schema names of these files.
const PREFIX: &str = "slotscope.";
/// Maximum decompressed size: several times the tables of all names with thousands of inputs.
const MAX_BYTES: u64 = 256 << 20;
/// A compression level of negligible cost.
const LEVEL: i32 = 3;

/// The schema of a file starting with `head`; `None` for another kind of file.
pub(super) fn schema(head: &[u8]) -> Option<&str> {
    let rest = head.strip_prefix(&SKIPPABLE)?;
    let (len, rest) = rest.split_first_chunk()?;
    let len = usize::try_from(u32::from_le_bytes(*len)).ok()?;
    let bytes = rest.get(..len).filter(|_| len <= MAX_SCHEMA)?;
    let schema = std::str::from_utf8(bytes).ok()?;
    schema.starts_with(PREFIX).then_some(schema)
}

/// The uncompressed content; equal values give equal bytes.
pub(super) fn content(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).expect("members are named by texts and numbers")
}

/// A file of this schema.
pub(super) fn write(schema: &str, value: &impl Serialize) -> Vec<u8> {
    let compress = |content: &[u8]| -> std::io::Result<Vec<u8>> {
        let mut file = SKIPPABLE.to_vec();
        file.extend((schema.len() as u32).to_le_bytes());
        file.extend(schema.as_bytes());
        let mut frame = zstd::Encoder::new(file, LEVEL)?;
        frame.include_checksum(true)?;
        frame.write_all(content)?;
        frame.finish()
    };
    compress(&content(value)).expect("zstd writes to memory")
}

/// The content of a file of this schema.
///
/// # Errors
/// Another kind of file, another version, or a damaged file.
pub(super) fn read<T: DeserializeOwned>(wanted: &str, file: &[u8]) -> Result<T> {
    let schema = schema(file).ok_or_else(|| bad("it does not start as one"))?;
    if schema != wanted {
        let reason = format!(
            "it is a file of \"{}\", and {wanted} is wanted here",
            Name::from(schema)
        );
        return Err(bad(&reason));
    }
    let frame = &file[SKIPPABLE.len() + 4 + schema.len()..];
    let content = decompress(frame).map_err(|error| bad(&error.to_string()))?;
    serde_json::from_slice(&content).map_err(|error| bad(&error.to_string()))
}

fn decompress(frame: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut content = Vec::new();
    let mut decoder = zstd::Decoder::with_buffer(frame)?.single_frame();
    decoder
        .by_ref()
        .take(MAX_BYTES + 1)
        .read_to_end(&mut content)?;
    let rest = decoder.finish();
    if content.len() as u64 > MAX_BYTES || !rest.is_empty() {
        Err(std::io::Error::other(
            "it is larger than any that slotscope writes",
        ))
    } else {
        Ok(content)
    }
}

/// An unusable file.
fn bad(why: &str) -> Error {
    let why = Name::from(why);
    Error::bad(
        TALLY_FILE,
        format!("it cannot be read ({why}); make it again with slotscope tally"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    const SCHEMA: &str = "slotscope.test/1";

    #[test]
    fn a_value_comes_back_and_every_damage_is_found() {
        let value: Vec<(u32, String)> = (0..1000).map(|i| (i, format!("name {i}"))).collect();
        let file = write(SCHEMA, &value);
        assert_eq!(schema(&file), Some(SCHEMA));
        assert_eq!(read::<Vec<(u32, String)>>(SCHEMA, &file).unwrap(), value);
        assert_eq!(write(SCHEMA, &value), file);
        for len in 0..file.len() {
            assert!(read::<Vec<(u32, String)>>(SCHEMA, &file[..len]).is_err());
        }
        for at in (0..file.len()).step_by(7) {
            let mut damaged = file.clone();
            damaged[at] ^= 0x10;
            // A few bits of a frame header only declare its memory requirement.
            let found = read::<Vec<(u32, String)>>(SCHEMA, &damaged);
            assert!(
                found.is_err() || found.unwrap() == value,
                "a flipped bit at {at}"
            );
        }
        let longer = [&file[..], b"x"].concat();
        assert!(read::<Vec<(u32, String)>>(SCHEMA, &longer).is_err());
        assert!(read::<Vec<(u32, String)>>("slotscope.test/2", &file).is_err());
        assert!(read::<Vec<u32>>(SCHEMA, &file).is_err());
    }

    #[test]
    fn a_bomb_is_not_decompressed() {
        let mut frame = zstd::Encoder::new(Vec::new(), 1).unwrap();
        let zeros = vec![0; 1 << 20];
        (0..=MAX_BYTES >> 20).for_each(|_| frame.write_all(&zeros).unwrap());
        let frame = frame.finish().unwrap();
        assert!(frame.len() < 1 << 20);
        let error = decompress(&frame).unwrap_err().to_string();
        assert!(error.contains("larger than any"), "{error}");
    }
}
