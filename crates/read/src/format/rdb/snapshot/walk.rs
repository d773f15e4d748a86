//! Walks an RDB file opcode by opcode and yields keys and remarks.

use std::borrow::Cow;
use std::sync::Arc;

use slotscope_base::error::reason;
use slotscope_base::sentence::Sentence;
use slotscope_base::text::{counted, grouped};

use crate::format::Notice;
use crate::format::frame::fault::{Fault, Read, wrong};
use crate::format::frame::walk::Damage;
use crate::format::rdb::snapshot::allocator::Allocator;
use crate::format::rdb::snapshot::header::{Header, LONGEST};
use crate::format::rdb::snapshot::imported::Imported;
use crate::format::rdb::snapshot::kind::{FIRST_OPCODE, Kind, Space, kind, module_type};
use crate::format::rdb::snapshot::memory::Footprint;
use crate::format::rdb::snapshot::record::{Attributes, Event, Record, Remark};
use crate::format::rdb::snapshot::server::Server;
use crate::format::rdb::snapshot::value::{self, Context, Templates, Value};
use crate::source::forward::Forward;

/// Longer keys are not read.
const MAX_KEY: u64 = 16 << 20;

/// The reason for rejecting a longer key.
pub(super) const LONG_KEY: &str = "a key of over 16 MiB, which is not counted";

/// A walk over an RDB file.
pub struct Walker {
    pub(super) input: Forward,
    pub(super) header: Option<Header>,
    /// Whether the checksum is verified.
    pub(super) verifies: bool,
    /// The item being read.
    pub(super) place: Place,
    pub(super) database: u64,
    /// Attributes of the next key that precede its type, and their offset.
    pub(super) next: (Option<u64>, Attributes),
    pub(super) templates: Templates,
    /// The server that wrote the file, if stated.
    pub(super) server: Option<Server>,
    allocator: Allocator,
    pub(super) memory: Option<Footprint>,
    /// When the file was written, in milliseconds since 1970, if stated.
    pub(super) written_ms: Option<i64>,
    /// The server's used memory at that time, if stated.
    pub(super) used_memory: Option<u64>,
    /// Whether there were headers of slots, which servers in cluster mode write.
    pub(super) is_of_cluster: bool,
    pub(super) imported: Arc<Imported>,
    pub(super) remarks: Vec<Remark>,
    /// The number of keys that the file announces.
    pub(super) announced: u64,
    pub(super) keys: u64,
    pub(super) key: Vec<u8>,
    pub(super) has_ended: bool,
    /// How commands after the file are treated.
    pub(super) commands: Commands,
    damage: Option<Damage>,
}

/// The commands after a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Commands {
    /// They are skipped.
    PassedOver,
    /// They are left for the caller to ask for.
    Left,
    /// They are left for the caller, and the walk is at the first one.
    Next,
}

/// The item being read, for error messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Magic and version.
    Header,
    /// None.
    Between,
    /// An opcode.
    Opcode(u8),
    /// The key before a value of this type.
    Key(u8),
    /// A value of this type.
    Value(u8),
}

/// The next step after an opcode.
pub(super) enum Step {
    /// Continue with the next opcode.
    On,
    /// Read a key with a value of this type.
    Key(u8),
    /// The end of the file.
    End,
}

/// A key that was skipped.
struct Found {
    kind: Kind,
    value: Value,
    offset: u64,
    attributes: Attributes,
}

/// The RDB version of Redis 7.2, and its highest type number.
const LAST_OF_7_2: u32 = 11;
const NEWEST_OF_7_2: u8 = 21;

impl Walker {
    /// Starts at the first byte of `input`; memory is estimated for this allocator.
    pub fn new(input: Forward, verifies: bool, allocator: Allocator) -> Self {
        Walker {
            input,
            header: None,
            verifies,
            place: Place::Header,
            database: 0,
            next: (None, Attributes::default()),
            templates: Templates::new(),
            server: None,
            allocator,
            memory: None,
            written_ms: None,
            used_memory: None,
            is_of_cluster: false,
            imported: Arc::default(),
            remarks: Vec::new(),
            announced: 0,
            keys: 0,
            key: Vec::new(),
            has_ended: false,
            commands: Commands::PassedOver,
            damage: None,
        }
    }

    /// Leaves commands after the file to `commands`.
    pub(crate) fn leaving_commands(mut self) -> Self {
        self.commands = Commands::Left;
        self
    }

    /// The input positioned at the commands after the file, once the walk is there.
    pub(crate) fn commands(&mut self) -> Option<Forward> {
        let is_there = self.commands == Commands::Next && self.remarks.is_empty();
        is_there.then(|| {
            self.commands = Commands::Left;
            std::mem::replace(&mut self.input, Forward::stream(Box::new(std::io::empty())))
        })
    }

    /// When the file was written, in milliseconds since 1970, if stated.
    pub fn written_ms(&self) -> Option<u64> {
        self.written_ms.and_then(|at| u64::try_from(at).ok())
    }

    /// The server's used memory when it wrote the file, if stated.
    pub fn used_memory(&self) -> Option<u64> {
        self.used_memory
    }

    /// Whether the part read so far is from a server in cluster mode.
    pub fn is_of_cluster(&self) -> bool {
        self.is_of_cluster
    }

    /// The server that wrote the file, known before the first key.
    pub(super) fn server(&self) -> Option<Server> {
        let header = self.header?;
        Some(self.server.unwrap_or(Server::of_header(header)))
    }

    /// The current offset in bytes.
    pub(crate) fn offset(&self) -> u64 {
        self.input.offset()
    }

    /// The next key or remark; `None` at the end of the file.
    ///
    /// # Errors
    /// Where and why the file cannot be read further. The walk ends after an error.
    #[inline]
    pub fn next_event(&mut self) -> Result<Option<Event<'_>>, Damage> {
        match self.plain_row() {
            Some(row) => Ok(Some(Event::Key(self.plain_record(row)))),
            None => self.next_of_any_kind(),
        }
    }

    fn next_of_any_kind(&mut self) -> Result<Option<Event<'_>>, Damage> {
        if self.remarks.is_empty() && !self.has_ended {
            match self.walk() {
                Ok(Some(key)) => return Ok(Some(Event::Key(self.record(key)))),
                Ok(None) => {}
                Err(fault) => {
                    self.has_ended = true;
                    self.damage = Some(self.damage_of(fault));
                }
            }
        }
        match self.remarks.pop() {
            Some(remark) => Ok(Some(Event::Remark(remark))),
            None => self.damage.take().map_or(Ok(None), Err),
        }
    }

    /// Walks to the next key; `None` at a remark or at the end.
    fn walk(&mut self) -> Read<Option<Found>> {
        if self.header.is_none() {
            self.start()?;
        }
        // An auxiliary field may name the server that defines the types.
        while let Some(header) = self.header.filter(|_| self.remarks.is_empty()) {
            let at = self.input.offset();
            self.place = Place::Between;
            let number = self.input.byte()?;
            self.place = Place::Opcode(number);
            let step = match number {
                ..FIRST_OPCODE => Step::Key(number),
                _ => self.opcode(at, header)?,
            };
            match step {
                Step::On => {}
                Step::Key(number) => {
                    if let Some(key) = self.pass_key(at, number, header)? {
                        return Ok(Some(key));
                    }
                }
                Step::End => {
                    self.has_ended = true;
                    break;
                }
            }
        }
        Ok(None)
    }

    /// Reads the header; the checksum starts with the magic.
    fn start(&mut self) -> Read<()> {
        let Some(header) = Header::of(self.input.peek(LONGEST)?) else {
            return wrong(
                0,
                "no RDB file: it starts with neither REDIS nor VALKEY and a version",
            );
        };
        self.input.skip(header.wrapper as u64)?;
        let is_verified = self.verifies && header.has_checksum();
        self.input.set_checksum(is_verified);
        self.input.skip((header.bytes() - header.wrapper) as u64)?;
        self.header = Some(header);
        Ok(())
    }

    /// Reads a key and skips its value; `None` if the key is too long and is skipped too.
    fn pass_key(&mut self, at: u64, number: u8, header: Header) -> Read<Option<Found>> {
        let Some(kind) = kind(number, header.space) else {
            return wrong(at, format!("an unknown type or opcode, {number}"));
        };
        if header.space == Space::Redis && header.version <= LAST_OF_7_2 && number > NEWEST_OF_7_2 {
            return wrong(
                at,
                format!(
                    "type {number}, newer than the version of the file: another maker's server wrote it"
                ),
            );
        }
        self.place = Place::Key(number);
        let stored = self.input.stored()?;
        let is_long = stored.len().max(stored.bytes_behind()) > MAX_KEY;
        let mut key = std::mem::take(&mut self.key);
        let result = if is_long {
            key.clear();
            self.input.skip(stored.bytes_behind()).map_err(Fault::from)
        } else {
            self.input.stored_string(stored, &mut key, MAX_KEY)
        };
        self.key = key;
        result?;
        self.place = Place::Value(number);
        let context = Context {
            templates: &self.templates,
            packs_lists: header.version >= 11,
        };
        // The file names its server before the first key.
        let server = || self.server.unwrap_or(Server::of_header(header));
        let memory = self
            .memory
            .get_or_insert_with(|| Footprint::new(server(), self.allocator));
        let value = value::pass(&mut self.input, kind.layout, context, memory)?;
        self.keys += 1;
        let (start, attributes) = std::mem::take(&mut self.next);
        let offset = start.unwrap_or(at);
        if is_long {
            let message = format!("{LONG_KEY}: it has {} bytes", grouped(stored.len()));
            self.remark(Notice::LongKey, 1, offset, message);
            return Ok(None);
        }
        Ok(Some(Found {
            kind,
            value,
            offset,
            attributes,
        }))
    }

    fn record(&self, found: Found) -> Record<'_> {
        let Found {
            kind,
            value,
            offset,
            attributes,
        } = found;
        let expires_ms = attributes.expires_ms;
        Record {
            key: &self.key,
            database: self.database,
            type_name: value.module.map_or(Cow::Borrowed(kind.name), module_type),
            encoding: self.encoding_of(kind, value, expires_ms.is_some()),
            elements: value.elements,
            memory: self.memory_of(value, expires_ms.is_some()),
            attributes,
            offset,
            bytes: self.input.offset() - offset,
            has_expired: self.has_expired(expires_ms),
            is_imported: self.imported.has(&self.key),
        }
    }

    /// Whether a key had expired when the file was written.
    #[inline]
    pub(super) fn has_expired(&self, expires_ms: Option<i64>) -> bool {
        expires_ms.is_some_and(|at| self.written_ms.is_some_and(|now| at < now))
    }

    fn encoding_of(&self, kind: Kind, value: Value, expires: bool) -> &'static str {
        let memory = self.memory.as_ref();
        let text = memory.and_then(|memory| memory.text_encoding(self.key.len() as u64, expires));
        text.or(value.encoding).unwrap_or(kind.encoding)
    }

    fn memory_of(&self, value: Value, expires: bool) -> Option<u64> {
        let elements = value.elements.known().unwrap_or(0);
        let memory = self.memory.as_ref()?;
        memory.total(self.key.len() as u64, expires, elements)
    }

    pub(super) fn remark(&mut self, notice: Notice, count: u64, offset: u64, message: String) {
        self.remarks.push(Remark {
            notice,
            count,
            offset,
            what: message,
        });
    }

    /// The damage that ended the walk, and the item it is in.
    fn damage_of(&mut self, fault: Fault) -> Damage {
        let (offset, reason) = match fault {
            Fault::CutOff => {
                self.input.set_checksum(false);
                // The end of a stream is only known once everything is read; errors no longer matter.
                drop(self.input.skip_rest());
                let reason = format!("the RDB file was cut off {}", self.progress());
                (self.input.offset(), reason)
            }
            Fault::Unreadable(error) => (self.input.offset(), reason(&error)),
            Fault::Wrong(offset, reason) => (offset, reason),
        };
        let version = self
            .header
            .map_or(String::new(), |header| format!(", version {header}"));
        let message = Sentence::from(reason).words("; ");
        let located = match self.place {
            Place::Header => message.words("in the header"),
            Place::Between => message.words("between keys"),
            Place::Opcode(number) => message.words(format!("at opcode {number}")),
            Place::Key(number) => message.words(format!("in a key of type {number}")),
            Place::Value(number) => message
                .words(format!("in the value of type {number} of "))
                .name(&self.key[..]),
        };
        let what = located.words(version);
        Damage { offset, what }
    }

    /// How far the walk got, for a truncated file.
    fn progress(&self) -> String {
        let keys = counted(self.keys, "key");
        let of_all = match self.announced {
            0 => String::new(),
            announced => format!(
                " of {} ({:.1}%)",
                announced,
                100.0 * self.keys as f64 / announced as f64
            ),
        };
        format!("after {keys}{of_all}")
    }
}
