//! `monitor`: MONITOR output, one line per command that a server ran. Each key of a command is an operation; scripts
//! count through the commands they run.

use hashslot::Kernel;

use slotscope_base::batch::Number;
use slotscope_base::block::{Block, Piece};
use slotscope_base::command::{COMMANDS, Command};
use slotscope_base::metric::Metric;
use slotscope_base::simd::find_delimiters;

use crate::format::around::around;
use crate::format::capture::meaning::{Meaning, WRONG};
use crate::format::capture::monitor_line::{Start, start_inside};
use crate::format::frame::batch_rows::BatchBuilder;
use crate::format::parse::escape::{self, Escapes};
use crate::format::{Columns, Detected, Format, Head, Notice, Opened, ReadStats, Reader};

/// The format.
pub struct Monitor;

impl Format for Monitor {
    fn name(&self) -> &'static str {
        "monitor"
    }

    fn example(&self) -> &'static str {
        r#"1795216373.125436 [0 10.0.0.7:58548] "GET" "user:{1000}:profile" (MONITOR)"#
    }

    fn note(&self) -> Option<&'static str> {
        Some("MONITOR slows a server down to half its speed; administrative commands are not shown")
    }

    /// All that redis-cli prints for an idle node is the reply to MONITOR; otherwise the shape of the lines tells.
    fn detect(&self, head: Head<'_>) -> Detected {
        let is_reply = matches!(head.bytes.trim_ascii_end(), b"OK" | b"+OK");
        if head.whole && is_reply {
            Detected::Yes
        } else {
            Detected::No
        }
    }

    fn open(&self, _: Head<'_>) -> Result<Opened, String> {
        Ok(Opened::lines(self.name(), Records { lead: 0 }))
    }
}

/// Lines that contain MONITOR records.
pub struct Records {
    /// The offset of the record in most lines.
    pub lead: usize,
}

impl Reader for Records {
    fn rows(&self, block: &mut Block, piece: Piece, columns: &mut Columns<'_>) -> ReadStats {
        let [mut ends, mut quotes] = [b'\n', b'"'].map(|byte| Places::of(byte, columns.kernel));
        let mut gather = BatchBuilder::new(columns);
        let mut words = Words::default();
        let mut start = piece.from as usize;
        while start < block.len() {
            let end = ends.next(block, start).unwrap_or(block.len());
            let record = start + self.start(&block.content()[start..end]);
            read_line(
                block,
                (start, record, end),
                piece.offset,
                &mut quotes,
                &mut words,
                &mut gather,
            );
            start = end + 1;
        }
        gather.finish(block)
    }
}

impl Records {
    /// The offset of a line's record.
    #[inline]
    fn start(&self, line: &[u8]) -> usize {
        let usual = || {
            line.get(self.lead..)
                .is_some_and(|text| Start::parse(text).is_some())
        };
        if self.lead == 0 || usual() {
            return self.lead;
        }
        start_inside(line).unwrap_or(0)
    }
}

/// Reads the line at `start` whose record is at `record`.
fn read_line(
    block: &mut Block,
    (start, record, end): (usize, usize, usize),
    offset: u64,
    quotes: &mut Places,
    words: &mut Words,
    gather: &mut BatchBuilder<'_, '_>,
) {
    let line = &block.content()[start..end];
    let parsed = Start::parse(&block.content()[record..end]);
    // The path of a Unix socket may contain a bracket or a quote.
    let parsed = parsed.and_then(|parsed| {
        let mut first = quotes.next(block, record + parsed.len)?;
        while first < end && !block.content()[record + parsed.len..first].ends_with(b"] ") {
            first = quotes.next(block, first + 1)?;
        }
        (first < end).then_some((parsed, first))
    });
    let Some((parsed, first)) = parsed else {
        return match around(line) {
            Some(_) => gather.note(Notice::Progress),
            None => gather.not_a_row(start, line, Ok(NO_LINE)),
        };
    };
    if words.read(block, first, end, quotes).is_none() {
        return gather.reject(start, CUT);
    }
    let (from, to) = words.spans[0];
    let (address, name_at) = (record + parsed.len, first);
    let name = &block.content()[from..to];
    let command = COMMANDS.named(name);
    // The address, without a port, after which the bracket of the record closes.
    let client = || host(&block.content()[address..name_at]);
    let time = Some(parsed.time_ms);
    if let Some(script) = command.filter(|command| command.is_script()) {
        // The commands that it ran follow. Without declared keys it is in no slot.
        let declares = words
            .spans
            .get(2)
            .is_none_or(|(from, to)| &block.content()[*from..*to] != b"0");
        return if declares {
            gather.note(Notice::Script)
        } else {
            gather.keyless(Notice::Script, script.name.as_bytes(), client(), time)
        };
    }
    match command.map_or(Err(Meaning::Unknown), |command| words.keys(command, block)) {
        Ok(()) => words.give(block, (parsed.time_ms, parsed.database), gather),
        Err(Meaning::Unknown) => gather.unknown_command(offset + start as u64, name, time),
        Err(Meaning::Wrong) => gather.reject(start, WRONG),
        Err(_) => {
            let content = |(from, to): &(usize, usize)| &block.content()[*from..*to];
            let words: Vec<_> = words.spans.iter().take(2).map(content).collect();
            let name = COMMANDS.find(&words).map_or("", |command| command.name);
            gather.keyless(Notice::NoKeyCommand, name.as_bytes(), client(), time);
        }
    }
}

/// The host of the client in `127.0.0.1:58548] `; none for scripts and sockets.
fn host(sender: &[u8]) -> Option<&[u8]> {
    let address = sender.strip_suffix(b"] ")?;
    let colon = memchr::memrchr(b':', address)?;
    let is_port =
        !address[colon + 1..].is_empty() && address[colon + 1..].iter().all(u8::is_ascii_digit);
    is_port.then_some(&address[..colon])
}

/// The occurrences of a byte in a block, found in bulk. The block may only change past the position asked for.
struct Places {
    byte: u8,
    kernel: &'static Kernel,
    positions: Box<[u32]>,
    /// How many of `positions` are filled, and the next one.
    len: usize,
    next: usize,
    /// The search has come this far.
    searched: usize,
}

/// Occurrences found per search.
const AT_ONCE: usize = 1024;

impl Places {
    fn of(byte: u8, kernel: &'static Kernel) -> Self {
        Places {
            byte,
            kernel,
            positions: vec![0; AT_ONCE].into_boxed_slice(),
            len: 0,
            next: 0,
            searched: 0,
        }
    }

    /// The first occurrence at or after `at`; `at` never decreases.
    #[inline]
    fn next(&mut self, block: &Block, at: usize) -> Option<usize> {
        loop {
            while let Some(place) = self.positions[..self.len].get(self.next) {
                let place = *place as usize;
                if place >= at {
                    return Some(place);
                }
                self.next += 1;
            }
            let from = self.searched.max(at);
            if from >= block.len() {
                return None;
            }
            self.search(block, from);
        }
    }

    #[cold]
    fn search(&mut self, block: &Block, from: usize) {
        let (from, positions) = (from as u32, &mut self.positions);
        let found = find_delimiters(self.kernel, block.padded(), from, self.byte, positions);
        (self.len, self.next) = (found.ends, 0);
        self.searched = match self.len {
            AT_ONCE => self.positions[AT_ONCE - 1] as usize + 1,
            _ => block.len(),
        };
    }
}

const NO_LINE: &str = "not a line of MONITOR";
const CUT: &str = "a line of MONITOR that is cut off";

/// The words of a command as offsets into the block, and which of them are keys. Reused from line to line.
#[derive(Default)]
struct Words {
    spans: Vec<(usize, usize)>,
    keys: Vec<usize>,
}

impl Words {
    /// Splits a line into words; the first quote is at `first`. `None` if a quote is unclosed, or if words are not
    /// separated by blanks.
    #[inline]
    fn read(&mut self, block: &Block, first: usize, to: usize, quotes: &mut Places) -> Option<()> {
        self.spans.clear();
        self.keys.clear();
        let text = &block.content()[..to];
        let line = text.strip_suffix(b"\r").unwrap_or(text);
        let mut open = first;
        loop {
            let mut close = quotes.next(block, open + 1)?;
            while close < line.len() && is_escaped(line, open + 1, close) {
                close = quotes.next(block, close + 1)?;
            }
            if close >= line.len() {
                return None;
            }
            self.spans.push((open + 1, close));
            let quote = quotes.next(block, close + 1);
            let next = quote.filter(|quote| *quote < line.len());
            let between = &line[close + 1..next.unwrap_or(line.len())];
            if between != b" " && between.iter().any(|byte| *byte != b' ') {
                return None;
            }
            match next {
                Some(next) => open = next,
                None => return Some(()),
            }
        }
    }

    /// Finds the words that are keys.
    fn keys(&mut self, command: &Command, block: &Block) -> Result<(), Meaning> {
        if command.has_one_key() {
            self.keys.push(1);
            return if self.spans.len() > 1 {
                Ok(())
            } else {
                Err(Meaning::Wrong)
            };
        }
        let spans = self.spans.iter();
        let words: Vec<_> = spans
            .map(|(from, to)| &block.content()[*from..*to])
            .collect();
        match Meaning::of(&words) {
            Meaning::Keys(_, keys) => self.keys = keys,
            meaning => return Err(meaning),
        }
        Ok(())
    }

    /// Emits each key as an operation.
    fn give(
        &self,
        block: &mut Block,
        (time, database): (u64, u64),
        gather: &mut BatchBuilder<'_, '_>,
    ) {
        let name = self.spans[0];
        block.content_mut()[name.0..name.1].make_ascii_lowercase();
        let is_timed = gather.is_timed();
        for key in &self.keys {
            let (from, to) = self.spans[*key];
            let to = escape::undo(Escapes::C, block.content_mut(), from, to);
            let values = gather.values();
            values.are_operations = true;
            values.weights[Metric::OPS].push(1);
            if is_timed {
                values.weights[Metric::CPU].push(self.keys.len() as u64);
            }
            values.times.push(time);
            values.commands.push(name.0 as u32, name.1 as u32);
            values.number_mut(Number::Database).push(database);
            gather.key(block, from, to);
        }
    }
}

/// Whether the quote of a word starting at `from` is preceded by an odd number of backslashes.
#[inline]
fn is_escaped(line: &[u8], from: usize, quote: usize) -> bool {
    let before = line[from..quote].iter().rev();
    before.take_while(|byte| **byte == b'\\').count() % 2 == 1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::{assert_reads, named, read_whole};

    const LINES: &[u8] = b"OK\n\
        1795216373.125436 [0 127.0.0.1:58548] \"Set\" \"key:2\" \"v\\\"1\"\n\
        +1795216373.5 [3 [::1]:5] \"mget\" \"a\\x00\" \"b c\"\r\n\
        1795216374.133424 [0 127.0.0.1:5] \"EVAL\" \"return 1\" \"1\" \"s\"\n\
        1795216374.133425 [0 lua] \"get\" \"s\"\n\
        1795216374.2 [0 127.0.0.1:5] \"ping\"\n\
        1795216374.3 [0 127.0.0.1:5] \"ft.get\" \"x\"\n\
        1795216374.4 [0 127.0.0.1:5] \"get\"\n\
        1795216374.5 [0 127.0.0.1:5] \"xread\" \"streams\" \"s1\" \"s2\" \"0\" \"0\"\n";

    #[test]
    fn each_key_of_a_command_is_an_operation() {
        let expected = r"key:2 by=set database=0 at=1795216373125; a\x00 by=mget database=3 at=1795216373500; b c by=mget database=3 at=1795216373500; s by=get database=0 at=1795216374133; s1 by=xread database=0 at=1795216374500; s2 by=xread database=0 at=1795216374500; !284; Progress=1; NoKeyCommand=1; Script=1; UnknownCommand=1; Command=1 at 242: ft.get";
        assert_reads(&Monitor, &[(LINES, expected)]);
        for idle in ["OK\n", "+OK\r\n"] {
            assert_eq!(named(idle.as_bytes(), true), Some("monitor"), "{idle}");
        }
        for no in ["OK\nuser:1\n", "user:1\n", ""] {
            assert_ne!(named(no, true), Some("monitor"), "{no}");
        }
    }

    #[test]
    fn a_line_that_is_cut_is_rejected_and_those_before_it_are_counted() {
        let line = b"1795216373.125436 [0 127.0.0.1:58548] \"SET\" \"key\" \"v\"\n";
        for cut in 1..line.len() - 1 {
            let found = read_whole(&Monitor, &[&line[..], &line[..cut]].concat());
            // A cut right after a word is not detectable.
            let is_word = line[..cut].ends_with(b"y\"") || line[..cut].ends_with(b"y\" ");
            let counted = if is_word { 2 } else { 1 };
            assert_eq!(found.keys.len(), counted, "{cut}");
            assert_eq!(found.rejects.len(), 2 - counted, "{cut}");
        }
    }
}
