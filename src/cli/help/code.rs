//! Code of the manual in a terminal that is narrower than its lines.

use pulldown_cmark::CodeBlockKind;

use slotscope_report::render::text::{shell_words, wrapped};

/// The indent of a continued line.
const INDENT: &str = "    ";

/// How a line that is too long is broken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Code {
    /// Between words, with a backslash: it can be typed so.
    Shell,
    /// Anywhere, between words if possible.
    #[default]
    Text,
    /// Not at all: a program may mean another thing then.
    Program,
}

impl Code {
    /// The kind of a block.
    pub(super) fn of(kind: &CodeBlockKind<'_>) -> Self {
        let language = match kind {
            CodeBlockKind::Fenced(info) => info.split(' ').next().unwrap_or_default(),
            CodeBlockKind::Indented => "",
        };
        match language {
            "sh" => Code::Shell,
            "" | "text" | "json" => Code::Text,
            _ => Code::Program,
        }
    }

    /// A line as lines of at most `width` characters. A comment after code that is too long for it is put above.
    pub(super) fn fitted(self, line: &str, width: usize) -> Vec<String> {
        if line.chars().count() <= width {
            return vec![line.to_owned()];
        }
        match line.split_once("  # ").filter(|_| self != Code::Text) {
            Some((code, comment)) => {
                let comment = wrapped(comment.trim(), width - 2).into_iter();
                let comment = comment.map(|line| format!("# {line}"));
                comment.chain(self.fitted(code.trim_end(), width)).collect()
            }
            None => match self {
                Code::Shell => command(line, width),
                Code::Text => text(line, width),
                Code::Program => vec![line.to_owned()],
            },
        }
    }
}

/// A command, continued after a backslash.
fn command(line: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in shell_words(line) {
        let last = lines.last_mut().expect("never empty");
        // Room for the backslash.
        let is_full = last.chars().count() + 1 + word.chars().count() + 2 > width;
        if is_full && !last.trim().is_empty() {
            *last += " \\";
            lines.push(format!("{INDENT}{word}"));
        } else {
            *last += if last.is_empty() { "" } else { " " };
            *last += word;
        }
    }
    lines
}

fn text(line: &str, width: usize) -> Vec<String> {
    let first = wrapped(line, width).swap_remove(0);
    let rest = line[first.len()..].trim_start();
    let rest = wrapped(rest, width - INDENT.len()).into_iter();
    let rest = rest.map(|line| format!("{INDENT}{line}"));
    std::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_goes_on_behind_a_backslash_and_its_comment_is_above() {
        let line =
            "slotscope analyze 's3://bucket/a b/*.rdb' --nodes 6      # a pattern, in quotes";
        assert_eq!(
            Code::Shell.fitted(line, 30),
            [
                "# a pattern, in quotes",
                "slotscope analyze \\",
                "    's3://bucket/a b/*.rdb' \\",
                "    --nodes 6"
            ]
        );
        assert_eq!(Code::Shell.fitted(line, 100), [line]);
    }

    #[test]
    fn text_is_broken_between_words_and_a_program_is_not() {
        let line = "  10.0.0.2:6379  5,462  1,500  #########";
        assert_eq!(
            Code::Text.fitted(line, 24),
            ["  10.0.0.2:6379  5,462", "    1,500  #########"]
        );
        assert_eq!(Code::Text.fitted("0123456789", 8), ["01234567", "    89"]);
        assert_eq!(Code::Program.fitted(line, 24), [line]);
        assert_eq!(
            Code::Program.fitted("f(a, b)  # why", 8),
            ["# why", "f(a, b)"]
        );
    }
}
