//! Members of a compressed file that are decompressed at once, from memory to memory: faster than as a stream.
//!
//! The content is that of a stream decoder, or there is none: whatever a stream decoder would object to is refused here.

use std::ops::Range;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use crate::source::ReadAt;
use crate::source::decompress::Form;

/// Some members of a file, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Group {
    /// Where they are.
    pub bytes: Range<u64>,
    /// Bytes that are in them, at most, by what their headers say.
    pub most: u64,
}

/// The first `len` bytes of memory that is used again and again.
#[derive(Default)]
pub(super) struct Content {
    memory: Vec<u8>,
    len: usize,
}

impl Content {
    /// The content.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.memory[..self.len]
    }
}

/// The state of a thread that decompresses groups.
pub(super) struct GroupDecoder {
    compressed: Vec<u8>,
    deflate: Decompress,
    zstd: zstd::bulk::Decompressor<'static>,
}

impl GroupDecoder {
    /// `None` where there is no memory for it.
    pub(super) fn new() -> Option<GroupDecoder> {
        Some(GroupDecoder {
            compressed: Vec::new(),
            deflate: Decompress::new(false),
            zstd: zstd::bulk::Decompressor::new().ok()?,
        })
    }

    /// The content of a group, in the memory of another; `None` where it cannot be read, is broken, or is not what the
    /// headers say.
    pub(super) fn decompress(
        &mut self,
        file: &dyn ReadAt,
        form: Form,
        group: &Group,
        used: Content,
    ) -> Option<Content> {
        let mut memory = used.memory;
        // No decoder is asked to write into nothing.
        let room = group.most as usize + 1;
        if memory.len() < room {
            memory = vec![0; room];
        }
        let stored = (group.bytes.end - group.bytes.start) as usize;
        self.compressed.resize(stored, 0);
        file.read_exact_at(&mut self.compressed, group.bytes.start)
            .ok()?;
        let into = &mut memory[..room];
        let len = match form {
            Form::Gzip => self.bgzip(into)?,
            Form::Zstd => self
                .zstd
                .decompress_to_buffer(&self.compressed, into)
                .ok()?,
            Form::Lz4 => return None,
        };
        Some(Content { memory, len })
    }

    /// Decompresses the members of bgzip; how many bytes are in them.
    fn bgzip(&mut self, into: &mut [u8]) -> Option<usize> {
        let (mut rest, mut len) = (&self.compressed[..], 0);
        while !rest.is_empty() {
            let header = BgzipHeader::of(rest)?;
            let (member, behind) = rest.split_at_checked(header.member)?;
            let (deflated, &[a, b, c, d, size @ ..]) =
                member.get(header.len..)?.split_last_chunk::<8>()?;
            self.deflate.reset(false);
            let into = &mut into[len..];
            let flush = FlushDecompress::Finish;
            let status = self.deflate.decompress(deflated, into, flush).ok()?;
            let content = &into[..self.deflate.total_out() as usize];
            let mut crc = Crc::new();
            crc.update(content);
            let is_whole = status == Status::StreamEnd
                && self.deflate.total_in() == deflated.len() as u64
                && content.len() as u64 == u64::from(u32::from_le_bytes(size))
                && crc.sum() == u32::from_le_bytes([a, b, c, d]);
            if !is_whole {
                return None;
            }
            len += content.len();
            rest = behind;
        }
        Some(len)
    }
}

/// The header of a member of gzip that says how long it is, as bgzip writes it.
pub(super) struct BgzipHeader {
    /// Its length.
    pub len: usize,
    /// The length of the member.
    pub member: usize,
}

impl BgzipHeader {
    /// The header that bgzip writes.
    pub(super) const USUAL: usize = Self::FIXED + 6;

    /// The longest one.
    pub(super) const LONGEST: usize = Self::FIXED + u16::MAX as usize;

    /// The bytes before the fields.
    const FIXED: usize = 12;

    /// The header at the start of `bytes`; `None` where there is another one.
    pub(super) fn of(bytes: &[u8]) -> Option<BgzipHeader> {
        const EXTRA_FIELDS_ONLY: u8 = 4;
        let (fixed, rest) = bytes.split_first_chunk::<{ Self::FIXED }>()?;
        let &[0x1F, 0x8B, 0x08, EXTRA_FIELDS_ONLY, .., low, high] = fixed else {
            return None;
        };
        let fields = rest.get(..usize::from(u16::from_le_bytes([low, high])))?;
        Some(BgzipHeader {
            len: Self::FIXED + fields.len(),
            member: member_len(fields)?,
        })
    }
}

/// The length of a member by the fields of its header: `BC`, of two bytes, is the length minus one.
fn member_len(mut fields: &[u8]) -> Option<usize> {
    loop {
        let (&[first, second, low, high], rest) = fields.split_first_chunk()?;
        let field = rest.get(..usize::from(u16::from_le_bytes([low, high])))?;
        if let (b"BC", &[low, high]) = (&[first, second], field) {
            return Some(usize::from(u16::from_le_bytes([low, high])) + 1);
        }
        fields = &rest[field.len()..];
    }
}
