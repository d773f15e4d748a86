//! gzip, zstd and lz4 are recognised by their first bytes, never by name, and decompressed. Skippable frames of zstd
//! and lz4, as written by pzstd, may occur anywhere.

use std::io::{self, BufRead, BufReader, Chain, Cursor, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use flate2::bufread::GzDecoder;
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
    /// RFC 8878.
    Zstd,
    /// The LZ4 frame format.
    Lz4,
}

impl Form {
    /// The compression format of an input starting with `head`.
    fn of(head: &[u8]) -> Option<Form> {
        match head {
            [0x1F, 0x8B, 0x08, ..] => Some(Form::Gzip),
            [0x28, 0xB5, 0x2F, 0xFD, ..] => Some(Form::Zstd),
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
    Form::of(head).is_some() || is_skippable(head)
}

/// Whether something to skip starts here: a skippable frame of zstd or lz4, or Valkey's envelope.
fn is_skippable(head: &[u8]) -> bool {
    matches!(head, [0x50..=0x5F, 0x2A, 0x4D, 0x18, ..]) || is_envelope(head)
}

/// Whether this is Valkey's envelope of a compressed RDB file: name and version, then three bytes for the method.
fn is_envelope(head: &[u8]) -> bool {
    head.starts_with(b"VCS\x01")
}

/// The content of `reader`, decompressed if it is compressed.
///
/// # Errors
/// The reader failed at its first bytes, or skippable frames are truncated or not followed by zstd or lz4.
pub fn plain(mut reader: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut passed_over = 0;
    let head = magic_behind_skippable(&mut reader, &mut passed_over)?;
    let form = Form::of(&head);
    if passed_over > 0 && !head.is_empty() && !matches!(form, Some(Form::Zstd | Form::Lz4)) {
        let reason = "skippable frames, and neither zstd nor lz4 after them";
        return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
    }
    let whole = Cursor::new(head).chain(reader);
    match form {
        Some(form) => decoder(form, whole, passed_over),
        None => Ok(Box::new(whole)),
    }
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
        Form::Gzip => Box::new(GzipMembers::Between(counted)),
        Form::Zstd => Box::new(zstd::stream::read::Decoder::with_buffer(counted)?),
        Form::Lz4 => Box::new(Lz4Frames {
            frame: next_frame(counted)?,
        }),
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
                let reason = if kind == io::ErrorKind::UnexpectedEof {
                    "it is cut off".into()
                } else {
                    error.to_string()
                };
                io::Error::other(format!(
                    "the {form} stream is broken at or before its compressed byte {at}: {reason}"
                ))
            }
        })
    }
}

/// The first bytes after any skippable frames, whose length is added to `passed_over`.
fn magic_behind_skippable(reader: &mut impl Read, passed_over: &mut u64) -> io::Result<Vec<u8>> {
    loop {
        let mut head = Vec::new();
        reader.take(MAGIC as u64).read_to_end(&mut head)?;
        if !is_skippable(&head) {
            return Ok(head);
        }
        if is_envelope(&head) {
            reader.read_exact(&mut [0; 3])?;
            *passed_over += 7;
            continue;
        }
        let mut size = [0; 4];
        reader.read_exact(&mut size)?;
        let size = u64::from(u32::from_le_bytes(size));
        if io::copy(&mut reader.take(size), &mut io::sink())? < size {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        *passed_over += 8 + size;
    }
}

/// Concatenated gzip members. Zeros between and after them are skipped as in gzip: tapes and block devices have them.
enum GzipMembers<R> {
    Between(R),
    Inside(Box<GzDecoder<R>>),
    End,
}

impl<R: BufRead> Read for GzipMembers<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        loop {
            *self = match std::mem::replace(self, GzipMembers::End) {
                GzipMembers::End => return Ok(0),
                GzipMembers::Between(mut rest) => {
                    if is_at_end_behind_zeros(&mut rest)? {
                        GzipMembers::End
                    } else {
                        GzipMembers::Inside(Box::new(GzDecoder::new(rest)))
                    }
                }
                GzipMembers::Inside(mut member) => {
                    let count = member.read(into)?;
                    if count > 0 || into.is_empty() {
                        *self = GzipMembers::Inside(member);
                        return Ok(count);
                    }
                    GzipMembers::Between(member.into_inner())
                }
            }
        }
    }
}

/// Skips zeros; returns whether nothing else follows.
fn is_at_end_behind_zeros(rest: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffer = rest.fill_buf()?;
        let len = buffer.len();
        let zeros = buffer.iter().take_while(|byte| **byte == 0).count();
        rest.consume(zeros);
        if zeros < len || len == 0 {
            return Ok(len == 0);
        }
    }
}

/// An lz4 frame, preceded by the magic that was already read.
type Lz4Frame<R> = FrameDecoder<Chain<Cursor<Vec<u8>>, R>>;

/// The next frame with content.
fn next_frame<R: Read>(mut reader: R) -> io::Result<Option<Lz4Frame<R>>> {
    let magic = magic_behind_skippable(&mut reader, &mut 0)?;
    let frame = |magic| FrameDecoder::new(Cursor::new(magic).chain(reader));
    Ok(Some(magic).filter(|magic| !magic.is_empty()).map(frame))
}

/// Concatenated lz4 frames: the decoder stops after the first one, and between two blocks of a truncated one.
struct Lz4Frames<R: Read> {
    frame: Option<Lz4Frame<BufReader<Counted<R>>>>,
}

impl<R: Read> Read for Lz4Frames<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while let Some(mut frame) = self.frame.take() {
            let count = frame.read(into)?;
            if count > 0 || into.is_empty() {
                self.frame = Some(frame);
                return Ok(count);
            }
            let (_, mut rest) = frame.into_inner().into_inner();
            if !rest.fill_buf()?.is_empty() {
                self.frame = next_frame(rest)?;
            } else if !ends_a_frame(&rest.get_ref().last) {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(0)
    }
}

/// A frame ends with four zeros, optionally followed by a checksum.
fn ends_a_frame(last: &[u8; 8]) -> bool {
    last[4..] == [0; 4] || last[..4] == [0; 4]
}
