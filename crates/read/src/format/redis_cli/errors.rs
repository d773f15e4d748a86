//! Errors printed by redis-cli and servers if a command or connection fails: lines among the keys, or instead of them.

/// The reason for rejecting a line that reports a failure.
pub const REASON: &str = "a message of redis-cli or the server, not a key";

/// A kind of failure.
pub struct Failure {
    /// The start of its lines.
    start: &'static [u8],
    /// A suggested fix.
    pub way_out: &'static str,
}

const LOG_IN: &str = "log in: REDISCLI_AUTH=PASSWORD redis-cli --user USER -h HOST -p PORT --no-raw --scan > HOST-PORT.keys";
const WAIT: &str = "wait until the node serves its slots, then redis-cli -h HOST -p PORT --no-raw --scan > HOST-PORT.keys";
const PRIMARY: &str =
    "dump each primary by itself: redis-cli -h HOST -p PORT --no-raw --scan > HOST-PORT.keys";
const REACH: &str =
    "check host, port and TLS, then redis-cli -h HOST -p PORT --no-raw --scan > HOST-PORT.keys";
const AGAIN: &str = "fix that, then redis-cli -h HOST -p PORT --no-raw --scan > HOST-PORT.keys";

/// Every kind; the first match wins.
const FAILURES: &[Failure] = &[
    of(b"NOAUTH ", LOG_IN),
    of(b"NOPERM ", LOG_IN),
    of(b"WRONGPASS ", LOG_IN),
    of(b"AUTH failed: ", LOG_IN),
    of(b"Warning: AUTH failed", LOG_IN),
    of(b"Warning: Using a password ", AGAIN),
    of(b"LOADING ", WAIT),
    of(b"CLUSTERDOWN ", WAIT),
    of(b"MASTERDOWN ", WAIT),
    of(b"BUSY Redis", WAIT),
    of(b"BUSY Valkey", WAIT),
    of(b"MOVED ", PRIMARY),
    of(b"Could not connect to ", REACH),
    of(b"Error: ", REACH),
    of(b"I/O error", REACH),
    of(b"DENIED Redis", REACH),
    of(b"DENIED Valkey", REACH),
    of(b"SCAN error: ", AGAIN),
    of(b"ERR ", AGAIN),
    of(b"WRONGTYPE ", AGAIN),
    of(b"(error) ", AGAIN),
];

const fn of(start: &'static [u8], way_out: &'static str) -> Failure {
    Failure { start, way_out }
}

/// The failure reported by `line`.
pub fn failure(line: &[u8]) -> Option<&'static Failure> {
    let text = [&b"SCAN error: "[..], b"(error) "]
        .iter()
        .find_map(|start| line.strip_prefix(*start))
        .unwrap_or(line);
    let starts = |text: &[u8]| {
        FAILURES
            .iter()
            .find(|failure| text.starts_with(failure.start))
    };
    starts(text).or_else(|| starts(line))
}

/// Whether a line reports a failure. All of them start with a capital letter or a parenthesis, as few keys do.
pub fn is_failure(line: &[u8]) -> bool {
    matches!(line, [b'A'..=b'Z' | b'(', ..]) && failure(line).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_real_servers_and_redis_cli_print_is_a_failure() {
        for line in [
            "NOAUTH Authentication required.",
            "SCAN error: NOAUTH Authentication required.",
            "(error) NOPERM this user has no permissions to run the 'scan' command",
            "AUTH failed: WRONGPASS invalid username-password pair or user is disabled.",
            "LOADING Redis is loading the dataset in memory",
            "CLUSTERDOWN The cluster is down",
            "MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.",
            "MOVED 7638 127.0.0.1:21792",
            "ERR unknown command 'FOO'",
            "WRONGTYPE Operation against a key holding the wrong kind of value",
            "Could not connect to Redis at 127.0.0.1:1: Connection refused",
            "Warning: Using a password with '-a' or '-u' option on the command line interface may not be safe.",
            "Error: Server closed the connection",
            "I/O error",
        ] {
            assert!(is_failure(line.as_bytes()), "{line}");
        }
    }

    #[test]
    fn the_failure_decides_what_to_do() {
        for line in [
            &b"NOAUTH x"[..],
            b"(error) NOAUTH x",
            b"SCAN error: NOAUTH x",
        ] {
            assert_eq!(failure(line).map(|failure| failure.way_out), Some(LOG_IN));
        }
        assert_eq!(
            failure(b"(error) SOMETHING").map(|failure| failure.way_out),
            Some(AGAIN)
        );
    }

    #[test]
    fn a_failure_has_a_blank_so_that_lines_without_one_need_not_be_looked_at() {
        assert!(FAILURES.iter().all(|failure| failure.start.contains(&b' ')));
    }

    #[test]
    fn a_key_is_no_failure() {
        for line in [
            "", "E", "ERR", "ERRORS:1", "NOAUTH", "user:1", "MOVED:1", "Error:1", "error: x",
            "(error)",
        ] {
            assert!(!is_failure(line.as_bytes()), "{line}");
        }
    }
}
