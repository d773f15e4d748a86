//! Rewords clap's errors to say what is expected, for mistyped flags and non-numeric values.

use std::error::Error as _;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use crate::cli::synonyms::flag_for;

/// Rewords the error if clap does not say what is expected; `command` is the one typed.
pub(super) fn reworded(mut error: clap::Error, command: Option<&Command>) -> clap::Error {
    match error.kind() {
        ErrorKind::ValueValidation => expected_number(&error).unwrap_or(error),
        ErrorKind::UnknownArgument => {
            // "to pass '-n' as a value, use '-- -n'" would suggest a file of that name.
            error.remove(ContextKind::Suggested);
            of_another_tool(&error, command).unwrap_or(error)
        }
        _ => error,
    }
}

/// The error text, starting with the program's name like all its errors, for pipelines and cron mail.
pub(super) fn rendered(error: &clap::Error) -> String {
    error
        .render()
        .ansi()
        .to_string()
        .replacen("error:", "slotscope:", 1)
}

/// A non-numeric or out-of-range value.
fn expected_number(error: &clap::Error) -> Option<clap::Error> {
    let (argument, value) = (
        text(error, ContextKind::InvalidArg)?,
        text(error, ContextKind::InvalidValue)?,
    );
    let expected = expected(&error.source()?.to_string(), value)?;
    Some(raw(
        ErrorKind::ValueValidation,
        &format!("invalid value '{value}' for '{argument}': {expected}"),
    ))
}

/// The expected value, if parsing `value` failed with `reason`.
fn expected(reason: &str, value: &str) -> Option<String> {
    if let Some((_, range)) = reason.split_once(" is not in ") {
        let (from, to) = range.split_once("..")?;
        let last = match to.strip_prefix('=') {
            Some(last) => last.parse().ok()?,
            None => to.parse::<u64>().ok()?.checked_sub(1)?,
        };
        return Some(format!("expected a number from {from} to {last}"));
    }
    let expected = match reason {
        "invalid float literal" | "cannot parse float from empty string" => "expected a number",
        "number too large to fit in target type" => "expected a smaller number",
        "invalid digit found in string" if value.starts_with('-') => {
            "expected a whole number, 0 or more"
        }
        "invalid digit found in string" | "cannot parse integer from empty string" => {
            "expected a whole number"
        }
        _ => return None,
    };
    Some(expected.into())
}

/// A flag of another tool: what to write here.
fn of_another_tool(error: &clap::Error, command: Option<&Command>) -> Option<clap::Error> {
    let argument = text(error, ContextKind::InvalidArg)?;
    let flag = argument.split('=').next()?;
    let tip = match flag_for(flag, command?.get_name())? {
        "" => String::new(),
        tip => format!("\n\n  tip: {tip}"),
    };
    let message = format!("unexpected argument '{argument}' found{tip}");
    Some(raw(ErrorKind::UnknownArgument, &message))
}

fn text(error: &clap::Error, kind: ContextKind) -> Option<&str> {
    match error.get(kind)? {
        ContextValue::String(text) => Some(text),
        _ => None,
    }
}

fn raw(kind: ErrorKind, message: &str) -> clap::Error {
    clap::Error::raw(
        kind,
        format!("{message}\n\nFor more information, try '--help'.\n"),
    )
}

#[cfg(test)]
mod tests {
    use crate::cli::Cli;

    #[test]
    fn a_refusal_says_what_is_expected() {
        for (words, said) in [
            (
                "analyze x --nodes three",
                "invalid value 'three' for '--nodes <N>': expected a whole number\n",
            ),
            (
                "analyze x --nodes -3",
                "'--nodes <N>': expected a whole number, 0 or more\n",
            ),
            (
                "analyze x --top -1",
                "'--top <N>': expected a whole number, 0 or more\n",
            ),
            (
                "generate --keys -5",
                "not a number of keys; write it like 5000",
            ),
            (
                "find-tag --slot 20000",
                "'--slot <N>': expected a number from 0 to 16383\n",
            ),
            ("analyze x -n 3", "unexpected argument '-n' found"),
            ("analyze x --nodse 3", "--nodes"),
            (
                "plan x --max-moves 3",
                "tip: --max-slots N and --max-bytes SIZE",
            ),
            ("plan x --cluster-threshold=3", "tip: --tolerance PERCENT"),
        ] {
            let words = format!("slotscope {words}");
            let error = Cli::parse_words(words.split(' ').map(Into::into).collect()).unwrap_err();
            let text = error.render().to_string();
            assert!(text.contains(said), "{words}: {text}");
            assert!(
                !text.contains("as a value") && !text.contains("invalid digit"),
                "{words}: {text}"
            );
        }
    }
}
