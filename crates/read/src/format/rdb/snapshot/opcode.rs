//! Opcodes: everything around the keys of an RDB file, and the attributes before a key.

use std::sync::Arc;

use slotscope_base::text::grouped;

use crate::format::Notice;
use crate::format::frame::fault::{Read, wrong};
use crate::format::rdb::snapshot::header::{Header, MARK};
use crate::format::rdb::snapshot::kind::{FIRST_OPCODE, Space};
use crate::format::rdb::snapshot::module;
use crate::format::rdb::snapshot::record::Attributes;
use crate::format::rdb::snapshot::server::Server;
use crate::format::rdb::snapshot::walk::{Commands, Place, Step, Walker};

const EOF: u8 = 255;
const SELECT_DB: u8 = 254;
const EXPIRE_SECONDS: u8 = 253;
const EXPIRE_MS: u8 = 252;
const RESIZE_DB: u8 = 251;
pub(super) const AUX: u8 = 250;
const FREQ: u8 = 249;
const IDLE: u8 = 248;
const MODULE_AUX: u8 = 247;
const FUNCTION: u8 = 245;
pub(super) const SLOT_INFO: u8 = 244;
/// Redis: metadata that modules attach to a key.
const KEY_META: u8 = 243;
/// Valkey: slots being imported.
const SLOT_IMPORT: u8 = 243;
const HASH_TEMPLATE: u8 = 242;
/// Redis Enterprise.
const RAM_LRU: u8 = FIRST_OPCODE;
const SLOT_NUMBER: u8 = 121;

/// Dragonfly: end of synchronisation, compressed parts, journal offset, and flags of the next key.
const DF_FULLSYNC_END: u8 = 200;
const DF_ZSTD: u8 = 201;
const DF_LZ4: u8 = 202;
const DF_JOURNAL_OFFSET: u8 = 211;
const DF_MASK: u8 = 220;
/// Four more bytes follow the flags.
const DF_MC_FLAGS: u32 = 2;

/// Above what any server has.
const MAX_TEMPLATES: usize = 1 << 16;

/// Longer auxiliary fields are not examined.
const MAX_AUX: u64 = 64;

impl Walker {
    /// Reads the operands of the opcode at `at`.
    pub(super) fn opcode(&mut self, at: u64, header: Header) -> Read<Step> {
        use Space::{Dragonfly, Redis, Valkey};
        let Place::Opcode(opcode) = self.place else {
            return Ok(Step::End);
        };
        match (opcode, header.space) {
            (EOF, _) => return self.end(header).map(|()| Step::End),
            (SELECT_DB, _) => self.database = self.input.length()?,
            (EXPIRE_SECONDS, _) => {
                let seconds = i32::from_le_bytes(self.input.array()?);
                self.before_key(at).expires_ms = Some(1000 * i64::from(seconds));
            }
            (EXPIRE_MS, _) => self.before_key(at).expires_ms = Some(self.input.int64()?),
            (FREQ, _) => self.before_key(at).lfu = Some(self.input.byte()?),
            (IDLE, _) => self.before_key(at).idle_secs = Some(self.input.length()?),
            (RAM_LRU | SLOT_NUMBER, _) => {
                self.before_key(at);
                self.input.length()?;
            }
            (KEY_META, Redis) => {
                self.before_key(at);
                self.key_meta()?;
            }
            (RESIZE_DB, _) => {
                self.announced = self.announced.saturating_add(self.input.length()?);
                self.input.length()?;
            }
            (AUX, _) => self.auxiliary()?,
            (SLOT_INFO, _) => {
                // The slot, and how many keys it has and how many of them expire.
                (0..3).try_for_each(|_| self.input.length().map(drop))?;
                self.is_of_cluster = true;
            }
            (SLOT_IMPORT, Valkey) => self.slot_import()?,
            (HASH_TEMPLATE, Redis) => self.template()?,
            (MODULE_AUX, _) => {
                // The number of its type, and whether it was written before or after the keys.
                (0..3).try_for_each(|_| self.input.length().map(drop))?;
                module::pass_parts(&mut self.input, |_| {})?;
            }
            (FUNCTION, _) => drop(self.input.skip_string()?),
            (DF_MASK, Dragonfly) => {
                self.before_key(at);
                let flags = u32::from_le_bytes(self.input.array()?);
                self.input
                    .skip(if flags & DF_MC_FLAGS == 0 { 0 } else { 4 })?;
            }
            (DF_FULLSYNC_END | DF_JOURNAL_OFFSET, Dragonfly) => self.input.skip(8)?,
            (DF_ZSTD | DF_LZ4, Dragonfly) => {
                return wrong(
                    at,
                    "a compressed part as Dragonfly writes it, which is not read: save it again with \
                     --compression_mode 0",
                );
            }
            (number, _) => return Ok(Step::Key(number)),
        }
        Ok(Step::On)
    }

    /// The attributes of the next key; one of them is at `at`.
    fn before_key(&mut self, at: u64) -> &mut Attributes {
        self.next.0.get_or_insert(at);
        &mut self.next.1
    }

    /// An auxiliary field; unknown ones are skipped.
    fn auxiliary(&mut self) -> Read<()> {
        let name = self.input.short_string(MAX_AUX)?;
        let value = self.input.short_string(MAX_AUX)?;
        let number = || std::str::from_utf8(&value).ok()?.parse::<i64>().ok();
        match &name[..] {
            b"ctime" => self.written_ms = number().and_then(|seconds| seconds.checked_mul(1000)),
            b"used-mem" => self.used_memory = number().and_then(|bytes| bytes.try_into().ok()),
            b"df-ver" => {
                let header = self.header.as_mut();
                header
                    .into_iter()
                    .for_each(|header| header.space = Space::Dragonfly);
            }
            b"redis-ver" | b"valkey-ver" => {
                self.server = Server::of_version(name.starts_with(b"valkey"), &value);
            }
            b"slot-info" => self.is_of_cluster = true,
            _ => {}
        }
        Ok(())
    }

    /// Module metadata of the next key: four bytes for the owner, then its parts.
    fn key_meta(&mut self) -> Read<()> {
        let classes = self.input.length()?;
        (0..classes).try_for_each(|_| {
            self.input.skip(4)?;
            module::pass_parts(&mut self.input, |_| {})
        })
    }

    /// A job and its slot ranges.
    fn slot_import(&mut self) -> Read<()> {
        self.input.skip_string()?;
        let ranges = self.input.length()?;
        for _ in 0..ranges {
            let [first, last] = [self.input.length()?, self.input.length()?];
            Arc::make_mut(&mut self.imported).add(first..=last);
        }
        Ok(())
    }

    /// A template: its number and field names.
    fn template(&mut self) -> Read<()> {
        let at = self.input.offset();
        let number = self.input.length()?;
        let fields = self.input.length()?;
        (0..fields).try_for_each(|_| self.input.skip_string().map(drop))?;
        self.templates.insert(number, fields);
        match self.templates.len() {
            ..=MAX_TEMPLATES => Ok(()),
            _ => wrong(at, "over 65,536 templates of hashes"),
        }
    }

    /// The end of the file: the checksum and trailing bytes.
    fn end(&mut self, header: Header) -> Read<()> {
        let at = self.input.offset();
        let computed = self.input.checksum();
        let stored = if header.has_checksum() {
            u64::from_le_bytes(self.input.array()?)
        } else {
            0
        };
        self.input.set_checksum(false);
        match computed {
            Some(computed) if stored != 0 && stored != computed => {
                return wrong(
                    at,
                    format!(
                        "the checksum is {stored:016x}, that of the bytes before it {computed:016x}: the file is damaged, \
                     or was edited"
                    ),
                );
            }
            Some(_) if stored != 0 => {}
            _ => {
                let message = if self.verifies {
                    "the file has no checksum, so its bytes are not verified"
                } else {
                    "the checksum is not verified, as --no-verify says"
                };
                self.remark(Notice::Unverified, 1, at, message.into());
            }
        }
        self.behind()
    }

    /// The bytes after the end: the mark of a captured replication stream, or the commands of an append-only file.
    fn behind(&mut self) -> Read<()> {
        let at = self.input.offset();
        let head = self.input.peek(MARK + 1)?;
        let has_mark = |head: &[u8]| head[..MARK].iter().all(u8::is_ascii_hexdigit);
        let commands = if head.len() > MARK && has_mark(head) {
            &head[MARK..]
        } else {
            head
        };
        let (is_nothing, is_resp) = (
            head.is_empty() || head.len() == MARK,
            commands.starts_with(b"*") || commands.starts_with(b"#"),
        );
        if is_nothing {
            return Ok(());
        }
        if is_resp && self.commands == Commands::Left {
            let mark = head.len() - commands.len();
            self.input.pass(mark);
            self.commands = Commands::Next;
            return Ok(());
        }
        let bytes = self.input.skip_rest()?;
        let (notice, noun) = if is_resp {
            (Notice::Commands, "bytes of commands after the RDB file")
        } else {
            (Notice::Behind, "bytes after the RDB file")
        };
        self.remark(
            notice,
            bytes,
            at,
            format!("{} {noun}, not read", grouped(bytes)),
        );
        Ok(())
    }
}
