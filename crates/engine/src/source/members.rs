//! Where a compressed file can be read by several threads: its members, whose headers say how long they are.
//!
//! gzip has no header for lengths, but bgzip adds one, for every 64 KiB. A frame of zstd is a list of blocks with their lengths;
//! pzstd and the seekable format write many frames, zstd itself writes one. What a header says is not trusted: it only says
//! where a thread tries to start.

use std::io;

use crate::source::decompress::Form;
use crate::source::forward::Forward;
use crate::source::group::{BgzipHeader, Group};

/// Bytes of members that are worth a thread's turn, decompressed or compressed.
pub(super) const GROUP: u64 = 1 << 20;

/// The largest member that is decompressed at once, and the largest that it may be stored in: pzstd -19 writes 32 MiB in each, and a last block of nothing.
const LARGEST: u64 = (32 << 20) + LARGEST_BLOCK;

/// Decompressed bytes of a block of zstd.
const LARGEST_BLOCK: u64 = 128 << 10;

/// A walk over the members of a file.
pub(super) struct Members {
    file: Forward,
    form: Form,
    /// Bytes that make a group.
    group: u64,
    /// Where the first of them starts, after frames that are passed over.
    start: u64,
    /// Where the walk is.
    at: u64,
    /// Nothing after it says how long it is.
    ended: bool,
}

impl Members {
    /// The members of a file in groups of about this many bytes; `None` where it is in no form that has them.
    pub(super) fn of(mut file: Forward, group: u64) -> Option<Members> {
        while pass_skippable(&mut file).ok()? {}
        let form = Form::of(file.peek(4).ok()?)?;
        let start = file.offset();
        (form != Form::Gzip || start == 0).then_some(Members {
            file,
            form,
            group,
            start,
            at: start,
            ended: false,
        })
    }

    /// Their form.
    pub(super) fn form(&self) -> Form {
        self.form
    }

    /// Where the first of them starts.
    pub(super) fn start(&self) -> u64 {
        self.start
    }

    /// Where the next group starts, or the part of the file in which there is none.
    pub(super) fn offset(&self) -> u64 {
        self.at
    }

    /// The next members; `None` where the next one does not say how long it is, or is too large.
    pub(super) fn next(&mut self) -> Option<Group> {
        let mut group = Group {
            bytes: self.at..self.at,
            most: 0,
        };
        while !self.ended && group.most.max(group.bytes.end - group.bytes.start) < self.group {
            let member = match self.form {
                Form::Gzip => pass_bgzip(&mut self.file),
                Form::Zstd => pass_zstd(&mut self.file),
                Form::Lz4 => Ok(None),
            };
            // A member that cannot be read now cannot be read later either, and is an error then.
            match member {
                Ok(Some(most)) if most.max(self.file.offset() - group.bytes.end) <= LARGEST => {
                    group.most += most;
                    group.bytes.end = self.file.offset();
                }
                _ => self.ended = true,
            }
        }
        self.at = group.bytes.end;
        (!group.bytes.is_empty()).then_some(group)
    }
}

/// Passes over a member of gzip that says how long it is; the bytes in it, as it says.
fn pass_bgzip(file: &mut Forward) -> io::Result<Option<u64>> {
    let mut header = BgzipHeader::of(file.peek(BgzipHeader::USUAL)?);
    if header.is_none() {
        header = BgzipHeader::of(file.peek(BgzipHeader::LONGEST)?);
    }
    let Some(header) = header.filter(|header| header.member >= header.len + 8) else {
        return Ok(None);
    };
    // The last four bytes are the number of those in it.
    file.skip(header.member as u64 - 4)?;
    Ok(Some(u64::from(u32::from_le_bytes(file.array()?))))
}

/// Passes over a frame of zstd and those before it that have no content; the bytes in it, at most.
fn pass_zstd(file: &mut Forward) -> io::Result<Option<u64>> {
    while pass_skippable(file)? {}
    let Some(frame) = Frame::of(file.peek(Frame::LONGEST)?) else {
        return Ok(None);
    };
    file.skip(frame.header)?;
    let mut in_blocks = 0;
    loop {
        let [low, middle, high] = file.array()?;
        let block = u32::from_le_bytes([low, middle, high, 0]);
        let (is_last, kind, size) = (block & 1 == 1, block >> 1 & 3, u64::from(block >> 3));
        let (stored, most) = match kind {
            0 => (size, size),
            1 => (1, size),
            2 => (size, frame.largest_block),
            _ => return Ok(None),
        };
        // A decoder of streams refuses it, one of whole frames may not.
        if stored.max(most) > frame.largest_block {
            return Ok(None);
        }
        in_blocks += most;
        if in_blocks > LARGEST {
            return Ok(None);
        }
        file.skip(stored)?;
        if is_last {
            break;
        }
    }
    file.skip(frame.checksum)?;
    Ok(Some(frame.content.unwrap_or(in_blocks).min(in_blocks)))
}

/// Passes over a frame without content; false where there is none.
fn pass_skippable(file: &mut Forward) -> io::Result<bool> {
    let &[0x50..=0x5F, 0x2A, 0x4D, 0x18, a, b, c, d] = file.peek(8)? else {
        return Ok(false);
    };
    file.skip(8 + u64::from(u32::from_le_bytes([a, b, c, d])))?;
    Ok(true)
}

/// The header of a frame of zstd, as in RFC 8878.
struct Frame {
    /// Its length.
    header: u64,
    /// The length of what follows the blocks.
    checksum: u64,
    /// Bytes in the frame, where it says that.
    content: Option<u64>,
    /// Bytes of a block at most, stored and decompressed.
    largest_block: u64,
}

impl Frame {
    /// The longest header: magic, descriptor, window, dictionary, bytes in the frame.
    const LONGEST: usize = 4 + 1 + 1 + 4 + 8;

    /// The header at the start of `bytes`; `None` where there is none, or one that asks for much memory.
    fn of(bytes: &[u8]) -> Option<Frame> {
        let (&[0x28, 0xB5, 0x2F, 0xFD, descriptor], rest) = bytes.split_first_chunk()? else {
            return None;
        };
        let is_single = descriptor >> 5 & 1 == 1;
        let dictionary = [0, 1, 2, 4][usize::from(descriptor & 3)];
        let content_len = match descriptor >> 6 {
            0 => usize::from(is_single),
            power => 1 << power,
        };
        let (window, rest) = rest.split_at_checked(usize::from(!is_single))?;
        let content = rest.get(dictionary..dictionary + content_len)?;
        let mut le = [0; 8];
        le[..content_len].copy_from_slice(content);
        let offset = if content_len == 2 { 256 } else { 0 };
        let content = (content_len > 0).then_some(u64::from_le_bytes(le).saturating_add(offset));
        let window = match window {
            [byte, ..] => {
                let base = 1u64 << (10 + (byte >> 3));
                base + base / 8 * u64::from(byte & 7)
            }
            [] => content?,
        };
        (window <= LARGEST).then_some(Frame {
            header: (5 + usize::from(!is_single) + dictionary + content_len) as u64,
            checksum: 4 * u64::from(descriptor >> 2 & 1),
            content,
            largest_block: window.min(LARGEST_BLOCK),
        })
    }
}
