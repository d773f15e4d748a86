//! The arguments of a command that are keys, and whether the command reads or writes them.
//!
//! `table.txt` is the reply of real servers to COMMAND; see "Command key specifications" of Redis for its meaning.

#[doc(hidden)]
pub mod times;

use std::collections::BTreeSet;
use std::sync::LazyLock;

use crate::text::counted;

/// The table; its first line names the servers it is from.
const TABLE: &str = include_str!("table.txt");

/// Size of the hash table: a power of two, several times the number of commands.
const PLACES: usize = 4096;
/// 2^64 / golden ratio: multiplication spreads input over the upper bits.
const GOLDEN: u64 = 0x9E37_79B9_7F4A_7C15;
/// An empty place.
const EMPTY: u16 = u16::MAX;

/// The servers' commands. Every line of a capture looks one up by name, hence a fast hash table with open addressing:
/// the set of names is fixed, and a probe ends at the first empty place.
pub struct Commands {
    rows: Vec<Command>,
    /// Row numbers, by the hash of the name.
    places: Box<[u16]>,
}

/// The commands of the built-in table.
pub static COMMANDS: LazyLock<Commands> = LazyLock::new(Commands::table);

/// A command.
#[derive(Debug, Clone, PartialEq)]
pub struct Command {
    /// Its name in lower case; for a subcommand `container|subcommand`.
    pub name: &'static str,
    /// Number of words, name included; negative: a minimum.
    pub arity: i32,
    /// How it accesses its keys.
    pub access: Access,
    /// Whether its second word is a subcommand.
    is_container: bool,
    has_one_key: bool,
    is_script: bool,
    specs: Vec<Spec>,
}

/// How a command accesses its keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// It reads them.
    Read,
    /// It may change them.
    Write,
    /// Neither: a script, whose commands access keys themselves, or a command without keys.
    Neither,
}

/// Locates some of a command's keys.
#[derive(Debug, Clone, PartialEq)]
struct Spec {
    begin: Begin,
    find: Find,
}

#[derive(Debug, Clone, PartialEq)]
enum Begin {
    /// At this word.
    Index(i64),
    /// After this keyword, searched from a position; backwards from the end if negative.
    Keyword(&'static str, i64),
}

#[derive(Debug, Clone, PartialEq)]
enum Find {
    /// Every `step`-th word up to `last`, which counts from the start, or from the end if negative; only the first of
    /// `limit` parts.
    Range { last: i64, step: i64, limit: i64 },
    /// As many as a word specifies.
    Number { at: i64, first: i64, step: i64 },
}

impl Commands {
    /// Parses the built-in table.
    pub fn table() -> Commands {
        let mut rows: Vec<Command> = TABLE
            .lines()
            .filter(|line| !line.starts_with('#'))
            .filter_map(Command::parse)
            .collect();
        let names = rows.iter().map(|command| command.name);
        let containers: BTreeSet<&str> = names
            .filter_map(|name| Some(name.split_once('|')?.0))
            .collect();
        let mut places = vec![EMPTY; PLACES].into_boxed_slice();
        for (number, command) in rows.iter_mut().enumerate() {
            command.is_container = containers.contains(command.name);
            command.has_one_key &= !command.is_container;
            let place = probes(command.name.as_bytes()).find(|place| places[*place] == EMPTY);
            places[place.expect("fewer commands than places")] = number as u16;
        }
        Commands { rows, places }
    }

    /// Names and versions of the servers the table is from.
    pub fn servers() -> &'static str {
        let line = TABLE.lines().next().unwrap_or_default();
        line.split_once("COMMAND of ")
            .and_then(|(_, rest)| rest.split_once(';'))
            .map_or("any server", |(servers, _)| servers)
    }

    /// Finds the command of `words`, ignoring case; for a container, its subcommand.
    pub fn find(&self, words: &[impl AsRef<[u8]>]) -> Option<&Command> {
        let command = self.named(words.first()?.as_ref())?;
        match (command.is_container, words.get(1)) {
            (true, Some(second)) => {
                let name = [command.name.as_bytes(), b"|", second.as_ref()].concat();
                Some(self.named(&name).unwrap_or(command))
            }
            _ => Some(command),
        }
    }

    /// Finds a command by name, ignoring case; containers included.
    #[inline]
    pub fn named(&self, name: &[u8]) -> Option<&Command> {
        probes(name)
            .map_while(|place| self.rows.get(usize::from(self.places[place])))
            .find(|command| command.name.as_bytes().eq_ignore_ascii_case(name))
    }

    /// All commands.
    pub fn iter(&self) -> impl Iterator<Item = &Command> {
        self.rows.iter()
    }
}

/// The probe sequence for a name.
#[inline]
fn probes(name: &[u8]) -> impl Iterator<Item = usize> {
    let first = hash(name) as usize;
    (0..PLACES).map(move |probe| first.wrapping_add(probe) % PLACES)
}

/// A case-insensitive hash of a name's first and last bytes and length.
#[inline]
fn hash(name: &[u8]) -> u64 {
    const LOWER: u64 = u64::from_le_bytes([0x20; 8]);
    let lower = |bytes: [u8; 8]| u64::from_le_bytes(bytes) | LOWER;
    let ends = match (name.first_chunk(), name.last_chunk()) {
        (Some(first), Some(last)) => lower(*first) ^ lower(*last).rotate_left(29),
        _ => match (name.first_chunk(), name.last_chunk()) {
            (Some([a, b, c, d]), Some([e, f, g, h])) => lower([*a, *b, *c, *d, *e, *f, *g, *h]),
            _ => {
                let at = |place: usize| name.get(place).copied().unwrap_or(0);
                lower([at(0), at(1), at(2), 0, 0, 0, 0, 0])
            }
        },
    };
    let mixed = ends.wrapping_add(name.len() as u64).wrapping_mul(GOLDEN);
    mixed >> 40
}

impl Command {
    fn parse(line: &'static str) -> Option<Command> {
        let mut words = line.split(' ');
        let (name, arity) = (words.next()?, words.next()?.parse().ok()?);
        let access = match words.next()? {
            "r" => Access::Read,
            "w" => Access::Write,
            _ => Access::Neither,
        };
        const FIRST: Spec = Spec {
            begin: Begin::Index(1),
            find: Find::Range {
                last: 0,
                step: 1,
                limit: 0,
            },
        };
        let specs = words.map(Spec::parse).collect::<Option<Vec<_>>>()?;
        let base = name.strip_suffix("_ro").unwrap_or(name);
        Some(Command {
            name,
            arity,
            access,
            is_container: false,
            has_one_key: specs == [FIRST],
            is_script: ["eval", "evalsha", "fcall"].contains(&base),
            specs,
        })
    }

    /// Whether its first argument is its only key.
    pub fn has_one_key(&self) -> bool {
        self.has_one_key
    }

    /// Whether it runs a script or function, whose commands are seen with their own keys.
    pub fn is_script(&self) -> bool {
        self.is_script
    }

    /// The indices of its keys in `words`, in the order in which the server visits them.
    ///
    /// # Errors
    /// A message for people on what is wrong with the command.
    pub fn keys(&self, words: &[impl AsRef<[u8]>]) -> Result<Vec<usize>, String> {
        let count = words.len() as i64;
        if count < i64::from(self.arity.abs()) || (self.arity > 0 && count != i64::from(self.arity))
        {
            return Err(self.wrong_arity());
        }
        let mut places = Vec::new();
        for (number, spec) in self.specs.iter().enumerate() {
            let keys = spec.keys(words).ok_or_else(|| {
                let name = self.spelled();
                format!("{name} does not have the keys that it says, or says no number of them")
            })?;
            // MIGRATE has an empty word in place of its key if a list of keys follows.
            if self.name == "migrate" && number == 1 && keys.len() > 0 {
                places.clear();
            }
            places.extend(keys);
        }
        Ok(places)
    }

    /// Its name in upper case, as in server documentation.
    fn spelled(&self) -> String {
        self.name.replace('|', " ").to_uppercase()
    }

    fn wrong_arity(&self) -> String {
        let least = if self.arity < 0 { "at least " } else { "" };
        let wants = counted(u64::from(self.arity.unsigned_abs()) - 1, "argument");
        let name = self.spelled();
        format!("{name} takes {least}{wants}; --batches keys reads lines as bare keys")
    }
}

/// The word from which SORT looks for STORE.
const STORE_OF_SORT: i64 = 2;

/// Key indices: first to last, by a step.
type Places = std::iter::StepBy<std::ops::Range<usize>>;

impl Spec {
    fn parse(text: &'static str) -> Option<Spec> {
        let (begin, find) = text.split_once('/')?;
        let begin = match begin.split_once('@') {
            Some((word, from)) => Begin::Keyword(word, from.parse().ok()?),
            None => Begin::Index(begin.parse().ok()?),
        };
        let (kind, numbers) = find.split_once(':')?;
        let numbers: Vec<i64> = numbers
            .split(':')
            .map(str::parse)
            .collect::<Result<_, _>>()
            .ok()?;
        let find = match (kind, numbers.as_slice()) {
            ("range", &[last, step, limit]) => Find::Range { last, step, limit },
            ("keynum", &[at, first, step]) => Find::Number { at, first, step },
            _ => return None,
        };
        Some(Spec { begin, find })
    }

    /// The keys; none if the keyword is missing, `None` if they would be outside `words`.
    fn keys(&self, words: &[impl AsRef<[u8]>]) -> Option<Places> {
        let none = || (0..0).step_by(1);
        let count = words.len() as i64;
        let Some(begin) = self.begin(words) else {
            return Some(none());
        };
        let (first, last, step) = match self.find {
            Find::Range { last, step, .. } if last >= 0 => (begin, begin + last, step),
            Find::Range {
                last,
                step,
                limit: ..=1,
            } => (begin, count + last, step),
            Find::Range { limit, .. } if (count - begin) % limit != 0 => return None,
            Find::Range { last, step, limit } => {
                (begin, begin + (count - begin) / limit + last, step)
            }
            Find::Number { at, first, step } => {
                let word = words.get(usize::try_from(begin + at).ok()?)?;
                let number: i64 = std::str::from_utf8(word.as_ref())
                    .ok()?
                    .parse()
                    .ok()
                    .filter(|number| *number >= 0)?;
                if number == 0 {
                    return Some(none());
                }
                (
                    begin + first,
                    (number - 1).checked_mul(step)?.checked_add(begin + first)?,
                    step,
                )
            }
        };
        let inside = first >= 1 && first <= last && last < count && step > 0;
        inside.then(|| (first as usize..last as usize + 1).step_by(step as usize))
    }

    fn begin(&self, words: &[impl AsRef<[u8]>]) -> Option<i64> {
        let count = words.len() as i64;
        match self.begin {
            Begin::Index(index) => Some(index),
            Begin::Keyword(keyword, from) => {
                let is_keyword = |place: &i64| {
                    let word = usize::try_from(*place)
                        .ok()
                        .and_then(|place| words.get(place));
                    word.is_some_and(|word| word.as_ref().eq_ignore_ascii_case(keyword.as_bytes()))
                };
                let place = match from {
                    STORE_OF_SORT if self.is_of_sort() => self.store_of_sort(words),
                    from if from > 0 => (from..count).find(is_keyword),
                    from => (1..=count + from).rev().find(is_keyword),
                };
                place.map(|place| place + 1)
            }
        }
    }

    fn is_of_sort(&self) -> bool {
        matches!(self.begin, Begin::Keyword("STORE", STORE_OF_SORT))
    }

    /// The last STORE of SORT, found as the server does: a BY or GET pattern may have that name too.
    fn store_of_sort(&self, words: &[impl AsRef<[u8]>]) -> Option<i64> {
        const WITH_ARGUMENTS: [(&str, usize); 3] = [("limit", 2), ("get", 1), ("by", 1)];
        let (mut at, mut store) = (STORE_OF_SORT as usize, None);
        while let Some(word) = words.get(at) {
            let is_word = |name: &str| word.as_ref().eq_ignore_ascii_case(name.as_bytes());
            if is_word("store") && at + 1 < words.len() {
                store = Some(at as i64);
            }
            let arguments = WITH_ARGUMENTS.iter().find(|(name, _)| is_word(name));
            at += 1 + arguments.map_or(0, |(_, arguments)| *arguments);
        }
        store
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(line: &str) -> Result<Vec<String>, String> {
        let words: Vec<_> = line
            .split(' ')
            .map(|word| word.replace("\"\"", "").into_bytes())
            .collect();
        let places = Commands::table()
            .find(&words)
            .expect("a command")
            .keys(&words)?;
        Ok(places
            .into_iter()
            .map(|place| String::from_utf8(words[place].clone()).unwrap())
            .collect())
    }

    #[test]
    fn every_row_of_the_table_is_understood() {
        let rows = TABLE.lines().filter(|line| !line.starts_with('#')).count();
        assert_eq!(Commands::table().iter().count(), rows);
        assert!(rows > 500, "{rows}");
        let servers = "Redis 7.0.15, Redis 7.4.1, Redis 8.2.3, Valkey 9.1.2, Redis 255.255.255";
        assert_eq!(Commands::servers(), servers);
    }

    #[test]
    fn a_command_is_found_by_its_name_in_any_case_and_others_are_not() {
        let table = Commands::table();
        for command in table.iter() {
            for name in [command.name.to_owned(), command.name.to_uppercase()] {
                assert_eq!(table.named(name.as_bytes()), Some(command));
            }
            let probed = probes(command.name.as_bytes()).position(|place| {
                let row = table.rows.get(usize::from(table.places[place]));
                row.is_some_and(|row| row.name == command.name)
            });
            assert!(
                probed.is_some_and(|probes| probes < 8),
                "{}: {probed:?}",
                command.name
            );
            for other in [format!("{} ", command.name), command.name[1..].to_owned()] {
                let found = table.named(other.as_bytes());
                assert!(found.is_none_or(|found| found.name == other), "{other}");
            }
        }
        assert_eq!(table.named(b""), None);
        assert_eq!(table.named(&[b'x'; 100]), None);
    }

    #[test]
    fn keys_are_where_the_server_finds_them() {
        for (line, expected) in [
            ("mget a b", "a b"),
            ("MSET a 1 b 2", "a b"),
            ("RPOPLPUSH x y", "x y"),
            ("Eval s 2 k1 k2 v", "k1 k2"),
            ("EVAL s 0 v", ""),
            ("XREAD COUNT 2 STREAMS s1 s2 0 0", "s1 s2"),
            ("ZUNIONSTORE to 2 a b WEIGHTS 1 2", "to a b"),
            ("SORT l BY w_* STORE to", "l to"),
            ("GEORADIUS g 0 0 1 m STOREDIST to", "g to"),
            ("MIGRATE h 1 \"\" 0 9 KEYS a b", "a b"),
            ("MIGRATE h 1 a 0 9", "a"),
            ("OBJECT encoding a", "a"),
            ("BLMPOP 0 2 a b LEFT", "a b"),
            ("MSETEX 2 a 1 b 2 EX 9", "a b"),
            ("HGETEX h EX 9 FIELDS 1 f", "h"),
            ("JSON.MSET a $ 1 b $ 2", "a b"),
            ("CLUSTERSCAN 0", ""),
            ("PING", ""),
        ] {
            assert_eq!(keys(line).unwrap().join(" "), expected, "{line}");
        }
    }

    #[test]
    fn a_command_that_the_server_would_not_run_is_an_error_with_a_way_out() {
        assert!(
            keys("MGET")
                .unwrap_err()
                .starts_with("MGET takes at least 1 argument; --batches keys")
        );
        assert!(
            keys("GET a b")
                .unwrap_err()
                .starts_with("GET takes 1 argument;")
        );
        for line in [
            "EVAL s 3 a b",
            "EVAL s -1 a b",
            "EVAL s x a",
            "EVAL s 9223372036854775807 a",
        ] {
            assert!(
                keys(line)
                    .unwrap_err()
                    .starts_with("EVAL does not have the keys"),
                "{line}"
            );
        }
    }
}
