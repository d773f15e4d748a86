//! Inputs that are not key dumps: recognised by their first 64 KiB, before counting starts, and refused with a
//! suggested command. With `--format` nothing is refused here.

mod forms;
mod replies;
mod signatures;

use slotscope_base::name::Name;
use slotscope_read::format::Head;
use slotscope_read::format::line::offer::offers;
use slotscope_read::format::redis_cli::errors;
use slotscope_read::format::table::unmarked;

use crate::shape::peel;

pub use forms::LINE_FORMS;
pub use replies::REPLIES;
pub use signatures::SIGNATURES;

/// Bytes of an input examined.
const LOOKED_AT: usize = 64 << 10;

/// Lines examined.
const LINES: usize = 1000;

/// How to dump the keys of a server.
const DUMP: &str = "take the keys with redis-cli -h HOST -p PORT --no-raw --scan > HOST-PORT.keys";

/// Something that is not a key dump.
pub struct NotADump {
    /// A noun phrase for it.
    pub what: &'static str,
    /// A suggested command.
    pub way_out: &'static str,
    /// Whether there may be keys in its lines, so that a pattern may read it.
    has_keys: bool,
    sign: Sign,
}

impl NotADump {
    const fn new(what: &'static str, sign: Sign, way_out: &'static str) -> NotADump {
        NotADump {
            what,
            way_out,
            has_keys: false,
            sign,
        }
    }

    const fn with_keys(self) -> NotADump {
        NotADump {
            has_keys: true,
            ..self
        }
    }
}

/// How it is recognised.
enum Sign {
    /// Its first bytes.
    Start(fn(&[u8]) -> bool),
    /// Its first lines, without their line ends.
    Lines(fn(&[&[u8]]) -> bool),
    /// The words of a reply.
    Words(fn(&[&[u8]]) -> bool),
}

/// Why an input starting with `head` is refused, whatever format its lines may fit.
pub(crate) fn by_signature(head: Head<'_>) -> Option<String> {
    let text = unmarked(head.bytes);
    let start = &text[..text.len().min(LOOKED_AT)];
    let applies = |form: &&NotADump| match form.sign {
        Sign::Start(is) => is(start),
        Sign::Lines(_) | Sign::Words(_) => false,
    };
    let refusal = SIGNATURES
        .iter()
        .find(applies)
        .map(|form| refused_or_peeled(form, head));
    refusal.or_else(|| only_failures(&lines(head)))
}

/// Why an input whose texts may be keys is refused: they are a different kind of server reply.
pub(crate) fn by_words(head: Head<'_>) -> Option<String> {
    let words = replies::words(&lines(head));
    let applies = |form: &&NotADump| matches!(form.sign, Sign::Words(is) if is(&words));
    REPLIES.iter().find(applies).map(refused)
}

/// Why texts in double quotes are refused: each is an object of JSON with a key, as jq prints one without -r.
pub(crate) fn by_texts(head: Head<'_>) -> Option<String> {
    const REFUSAL: &str = "objects of JSON in texts of JSON, no key dump: jq -r . FILE | slotscope analyze - ; --format quoted takes each \
        object as a key";
    let is_object = |line: &[u8]| {
        let has_key = memchr::memmem::find(line, b"\\\"key\\\":").is_some();
        line.starts_with(b"\"{") && line.ends_with(b"}\"") && has_key
    };
    most(&lines(head), is_object)
        .then(|| REFUSAL.into())
        .or_else(|| with_scores(&replies::words(&lines(head))))
}

/// Why texts of which every second one is a number are refused.
fn with_scores(texts: &[&[u8]]) -> Option<String> {
    const REFUSAL: &str =
        "every second text is a number, as of ZRANGE WITHSCORES or HGETALL, no key dump";
    const LEAST: usize = 20;
    let is_number = |text: &&&[u8]| {
        let digits = text.strip_prefix(b"-").unwrap_or(text);
        !digits.is_empty()
            && digits
                .iter()
                .all(|byte| byte.is_ascii_digit() || *byte == b'.')
    };
    let of = |skip| texts.iter().skip(skip).step_by(2).filter(is_number).count();
    let half = texts.len() / 2;
    let are_so = texts.len() >= LEAST && of(1) * 20 >= half * 19 && of(0) * 20 <= half;
    are_so.then(|| format!("{REFUSAL}: {DUMP}"))
}

/// Why an input is refused if none of its lines is known to be more than a raw key.
pub(crate) fn by_lines(head: Head<'_>) -> Option<String> {
    let lines = lines(head);
    let applies = |form: &&NotADump| matches!(form.sign, Sign::Lines(is) if is(&lines));
    let form = LINE_FORMS.iter().find(applies);
    let refusal = form.map(|form| refused_or_peeled(form, head));
    refusal.or_else(|| control_bytes(&lines))
}

/// A refusal with the pattern that takes the keys out of the lines, if one does.
fn refused_or_peeled(form: &NotADump, head: Head<'_>) -> String {
    let mut rows = lines(head);
    rows.retain(|line| !line.is_empty());
    let peeled = form.has_keys.then(|| peel::proven(&rows)).flatten();
    match offers(head, peeled) {
        offers if offers.is_empty() => refused(form),
        offers => format!("{}, no key dump: {offers}", form.what),
    }
}

fn refused(form: &NotADump) -> String {
    format!("{}, no key dump: {}", form.what, form.way_out)
}

/// The complete lines at the start of an input, without line ends.
fn lines(head: Head<'_>) -> Vec<&[u8]> {
    let text = unmarked(head.bytes);
    let start = &text[..text.len().min(LOOKED_AT)];
    let is_whole = head.whole && start.len() == text.len();
    let mut lines: Vec<_> = start.split(|byte| *byte == b'\n').collect();
    let last = lines.pop().unwrap_or_default();
    if lines.is_empty() || is_whole && !last.is_empty() {
        lines.push(last);
    }
    lines.truncate(LINES);
    let bare = |line: &'_ [u8]| -> usize { line.len() - usize::from(line.ends_with(b"\r")) };
    lines.into_iter().map(|line| &line[..bare(line)]).collect()
}

/// Whether at least nine in ten non-blank lines, and at least one, have a form.
fn most(lines: &[&[u8]], is: impl Fn(&[u8]) -> bool) -> bool {
    let filled = lines.iter().filter(|line| !line.is_empty());
    let (count, fits) = filled.fold((0, 0), |(count, fits), line| {
        (count + 1, fits + u32::from(is(line)))
    });
    fits > 0 && 10 * fits >= 9 * count
}

/// Suggests a fix for an input that consists of failures.
fn only_failures(lines: &[&[u8]]) -> Option<String> {
    let mut filled = lines.iter().filter(|line| !line.is_empty());
    let are_failures = filled.clone().all(|line| errors::is_failure(line));
    // A warning precedes the failure it is about.
    let first = filled.next().filter(|_| are_failures)?;
    let last = filled.next_back().unwrap_or(first);
    let failure = errors::failure(last)?;
    Some(format!(
        "errors in place of keys, \"{}\": {}",
        Name::from(*last),
        failure.way_out
    ))
}

/// A key without the header of Java's string serialisation.
fn without_java(line: &[u8]) -> &[u8] {
    const HEADER: &[u8] = b"\xAC\xED\x00\x05t";
    const LENGTH: usize = 2;
    line.strip_prefix(HEADER)
        .and_then(|rest| rest.get(LENGTH..))
        .unwrap_or(line)
}

/// For lines with control bytes: explains how to list keys that contain them.
fn control_bytes(lines: &[&[u8]]) -> Option<String> {
    let is_control = |byte: &u8| byte.is_ascii_control() && *byte != b'\t';
    let lines: Vec<&[u8]> = lines.iter().map(|line| without_java(line)).collect();
    let filled = lines.iter().filter(|line| !line.is_empty()).count();
    let odd = lines
        .iter()
        .filter(|line| line.iter().any(is_control))
        .count();
    if odd * 5 <= filled {
        return None;
    }
    let has = |byte| lines.len() == 1 && memchr::memchr(byte, lines[0]).is_some();
    let way_out = match () {
        () if has(0) => "keys that end with NUL are read with --delimiter '\\0'",
        () if lines.iter().all(|line| line.contains(&0x1B)) => {
            "sed 's/\\x1b\\[[0-9;]*m//g' FILE | slotscope analyze - takes the colours off"
        }
        () if has(b'\r') => "keys that end with CR are read with --delimiter '\\r'",
        () => {
            "redis-cli --no-raw --scan writes such keys in quotes, and --format lines reads this as it is"
        }
    };
    Some(format!(
        "control bytes in {odd} of the first {filled} lines, no list of raw keys: {way_out}"
    ))
}
