//! gzip, zstd and lz4 are recognised by their first bytes, never by name, and decompressed.

use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use flate2::bufread::MultiGzDecoder;
use lz4_flex::frame::FrameDecoder;

/// Bytes needed to recognise a compressed format.
pub const MAGIC: usize = 4;

/// Compressed bytes per read.
const BUFFER: usize = 128 << 10;

/// A compression format; any number of concatenated members or frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// RFC 1952.
    Gzip,
    /// RFC 8878. The first frame may be a skippable one, as pzstd writes it.
    Zstd,
    /// The LZ4 frame format.
    Lz4,
}

impl Form {
    /// The compression format of an input starting with `head`.
    fn of(head: &[u8]) -> Option<Form> {
        match head {
            [0x1F, 0x8B, 0x08, ..] => Some(Form::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] | [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..] => Some(Form::Zstd),
            [0x04, 0x22, 0x4D, 0x18, ..] => Some(Form::Lz4),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Form::Gzip => "gzip",
            Form::Zstd => "zstd",
            Form::Lz4 => "lz4",
        }
    }
}

/// Whether an input starting with `head` is compressed.
pub fn is_compressed(head: &[u8]) -> bool {
    Form::of(head).is_some() || is_envelope(head)
}

/// Whether this is Valkey's envelope of a compressed RDB file: name and version, then three bytes for the method.
fn is_envelope(head: &[u8]) -> bool {
    head.starts_with(b"VCS\x01")
}

/// The content of `reader`, decompressed if it is compressed.
///
/// # Errors
/// The reader failed at its first bytes, or an envelope of Valkey has neither zstd nor lz4 in it.
pub fn plain(mut reader: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut passed_over = 0;
    let mut head = magic(&mut reader)?;
    if is_envelope(&head) {
        reader.read_exact(&mut [0; 3])?;
        passed_over = 7;
        head = magic(&mut reader)?;
    }
    let form = Form::of(&head);
    if passed_over > 0 && !matches!(form, Some(Form::Zstd | Form::Lz4)) {
        let reason = "a compressed RDB file of Valkey, and neither zstd nor lz4 in it";
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    let whole = Cursor::new(head).chain(reader);
    match form {
        Some(form) => decoder(form, whole, passed_over),
        None => Ok(Box::new(whole)),
    }
}

fn magic(reader: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    reader.take(MAGIC as u64).read_to_end(&mut head)?;
    Ok(head)
}

/// Decompresses an input of this format after its first `passed_over` bytes.
fn decoder(
    form: Form,
    reader: impl Read + Send + 'static,
    passed_over: u64,
) -> io::Result<Box<dyn Read + Send>> {
    let consumed = Arc::new(AtomicU64::new(passed_over));
    let counted = BufReader::with_capacity(
        BUFFER,
        Counted {
            inner: reader,
            consumed: consumed.clone(),
            last: [1; 8],
        },
    );
    let inner: Box<dyn Read + Send> = match form {
        Form::Gzip => Box::new(MultiGzDecoder::new(counted)),
        Form::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(counted)?),
        Form::Lz4 => Box::new(Lz4Frames(FrameDecoder::new(counted))),
    };
    Ok(Box::new(Decompressed {
        inner,
        form,
        consumed,
    }))
}

/// Counts the bytes read and keeps the last ones.
struct Counted<R> {
    inner: R,
    consumed: Arc<AtomicU64>,
    last: [u8; 8],
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(into)?;
        self.consumed.fetch_add(count as u64, Relaxed);
        let new = &into[count.saturating_sub(self.last.len())..count];
        self.last.rotate_left(new.len());
        self.last[8 - new.len()..].copy_from_slice(new);
        Ok(count)
    }
}

/// Adds the position in the compressed input to errors.
struct Decompressed {
    inner: Box<dyn Read + Send>,
    form: Form,
    consumed: Arc<AtomicU64>,
}

impl Read for Decompressed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.inner.read(into).map_err(|error| match error.kind() {
            io::ErrorKind::Interrupted => error,
            kind => {
                let (form, at) = (self.form.name(), self.consumed.load(Relaxed));
                let reason = match (kind, self.form) {
                    (io::ErrorKind::UnexpectedEof, _) => "it is cut off".into(),
                    (io::ErrorKind::InvalidInput, Form::Gzip) => format!(
                        "{error}; gzip -dc FILE | slotscope analyze - ignores zeros after its end"
                    ),
                    _ => error.to_string(),
                };
                io::Error::other(format!(
                    "the {form} stream is broken at or before its compressed byte {at}: {reason}"
                ))
            }
        })
    }
}

/// Concatenated lz4 frames: the decoder stops after each, and between two blocks of a truncated one.
struct Lz4Frames<R: Read>(FrameDecoder<BufReader<Counted<R>>>);

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.0.read(into)?;
            let rest = self.0.get_mut();
            if count > 0 || into.is_empty() {
                return Ok(count);
            } else if rest.fill_buf()?.is_empty() {
                return if ends_a_frame(&rest.get_ref().last) {
                    Ok(0)
                } else {
                    Err(io::ErrorKind::UnexpectedEof.into())
                };
            }
        }
    }
}

/// A frame ends with four zeros, optionally followed by a checksum.
fn ends_a_frame(last: &[u8; 8]) -> bool {
    last[4..] == [0; 4] || last[..4] == [0; 4]
}
