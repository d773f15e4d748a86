//! Keys and sizes among other lines, as in a message, a ticket or a session: the lines with a number that follow each other
//! are looked at by themselves, and the pattern that reads them is offered if it reads no other line.

use slotscope_base::sentence::Sentence;
use slotscope_base::text::shell_word;
use slotscope_read::format::Head;
use slotscope_read::format::line::Pattern;
use slotscope_read::format::line::tried::tried;
use slotscope_read::format::parse::size::size;

/// Lines that are enough to tell how they are to be read.
const LEAST: usize = 5;

/// The longest stretch of lines with a number in each, if other lines are around it.
pub(super) fn stretch<'r, 'a>(rows: &'r [&'a [u8]]) -> Option<&'r [&'a [u8]]> {
    let stretches = rows.split(|row| !has_number(row));
    let longest = stretches.max_by_key(|stretch| stretch.len())?;
    (longest.len() >= LEAST && longest.len() < rows.len()).then_some(longest)
}

/// Whether a word of a line is a number, or one with a unit.
fn has_number(row: &[u8]) -> bool {
    let words = row.split(|byte| b" \t|".contains(byte));
    words.into_iter().any(|word| {
        let word = word.strip_prefix(b"(").unwrap_or(word);
        let end = word.iter().rposition(|byte| !b"),;:".contains(byte));
        let word = &word[..end.map_or(0, |end| end + 1)];
        word.first().is_some_and(u8::is_ascii_digit) && size(word).is_some()
    })
}

/// The doubt about all lines, with the pattern of some of them and what it gives.
pub(super) fn doubt(pattern: &str, head: Head<'_>) -> Option<Sentence> {
    let pattern = Pattern::parse(pattern).ok().filter(Pattern::has_size)?;
    let tried = tried(&pattern.opened(head).ok()?, head)?;
    // A line of prose has no size where the pattern wants one.
    let is_list = tried.fits >= LEAST as u64 && tried.fits == tried.sized;
    let (key, _) = tried.first.as_ref()?;
    // A backslash is of a language whose escapes no pattern undoes; brackets around keys are of another pattern.
    let is_list = is_list && !key.0.contains(&b'\\') && tried.enclosed().is_none();
    is_list.then(|| {
        Sentence::from(format!(
            "keys and sizes in {} of {} lines, and each line is read as a key: --line {} gives {}",
            tried.fits,
            tried.fits + tried.misfits,
            shell_word(pattern.text()),
            tried.said()
        ))
    })
}
