//! How to connect to servers: users, passwords, TLS, addresses. Passwords are never flag values, which other users of
//! the machine could see.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::secret::{Credentials, Secret};
use slotscope_base::small_file;
use slotscope_collect::address::{Address, Seed};
use slotscope_collect::connection::Access;
use slotscope_collect::run::Options;
use slotscope_collect::silent::Silent;
use slotscope_collect::tls::{Tls, TlsConfig};
use slotscope_read::source::collection::manifest::Level;
use slotscope_read::source::remote;

use crate::cli::values;
use crate::options::headings::SERVERS;
use crate::options::members::displayed;
use crate::options::words;

/// Variables for a password; the first one set counts.
const VARIABLES: [&str; 3] = ["SLOTSCOPE_PASSWORD", "REDISCLI_AUTH", "VALKEYCLI_AUTH"];
/// Default COUNT of SCAN.
const COUNT: u64 = 500;
/// Default limit on the share of a node's time, in percent.
const MAX_LOAD: f64 = 25.0;
/// Default reply timeout.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Maximum password length.
const MAX_BYTES: u64 = 64 << 10;

/// How servers are reached.
#[derive(Args, Debug, Clone, Default, Serialize)]
#[command(next_help_heading = SERVERS)]
pub struct LiveArgs {
    /// The ACL user [default: the default user]
    ///
    /// `slotscope collect --acl SERVER` prints its rights. Its password is in SLOTSCOPE_PASSWORD, REDISCLI_AUTH or
    /// VALKEYCLI_AUTH.
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// A file whose first line is the password
    #[arg(long, value_name = "FILE", conflicts_with = "ask_password")]
    #[serde(serialize_with = "displayed")]
    pub password_file: Option<PathBuf>,
    /// Ask for the password on the terminal
    #[arg(long, alias = "askpass", hide_short_help = true)]
    pub ask_password: bool,
    /// Use TLS; implied by the other flags of TLS and by URLs that begin with `rediss://`
    #[arg(long, hide_short_help = true)]
    pub tls: bool,
    /// Trusted authorities [default: the system's]
    ///
    /// A PEM file. `--cacert`, `--cert` and `--key` are other names of this flag and the next two.
    #[arg(long, alias = "cacert", value_name = "FILE")]
    #[serde(serialize_with = "displayed")]
    pub tls_ca: Option<PathBuf>,
    /// The certificate to show to servers, a PEM file
    #[arg(
        long,
        alias = "cert",
        value_name = "FILE",
        hide_short_help = true,
        requires = "tls_key"
    )]
    #[serde(serialize_with = "displayed")]
    pub tls_cert: Option<PathBuf>,
    /// The key of that certificate, a PEM file
    #[arg(
        long,
        alias = "key",
        value_name = "FILE",
        hide_short_help = true,
        requires = "tls_cert"
    )]
    #[serde(serialize_with = "displayed")]
    pub tls_key: Option<PathBuf>,
    /// The name in the certificates of the servers [default: the host of each]
    #[arg(long, value_name = "NAME", hide_short_help = true)]
    pub sni: Option<String>,
    /// Reach the node that announces FROM at TO, as from outside of Docker or a NAT; may be repeated:
    /// 172.17.0.2:6379=127.0.0.1:7001
    #[arg(long, value_name = "FROM=TO", hide_short_help = true)]
    pub address_map: Vec<String>,
    /// The most of a node's time that reading may take
    ///
    /// Measured by its replies; a node that slows down gets longer pauses.
    #[arg(long, value_name = "PERCENT", hide_short_help = true, value_parser = values::part_percent, default_value_t = MAX_LOAD)]
    #[serde(skip)]
    pub max_load: f64,
    /// Timeout per server
    #[arg(long, value_name = "TIME", hide_short_help = true, value_parser = values::duration, default_value = "10s")]
    #[serde(skip)]
    pub timeout: Duration,
}

/// The servers named by the user.
///
/// # Errors
/// A text is not a server.
pub fn seeds(urls: &[String]) -> Result<Vec<Seed>> {
    let seed = |url: &String| match no_server(url) {
        Some(reason) => Err(Error::bad(Name::from(url.as_str()).to_string(), reason)),
        None => Seed::parse(url),
    };
    urls.iter().map(seed).collect()
}

/// A suggestion, if the text is known not to be a server.
fn no_server(text: &str) -> Option<&'static str> {
    let path = Path::new(text);
    let is_port = text.parse::<u16>().is_ok();
    if path.exists() || remote::are_objects(path) || text.starts_with("s3://") {
        Some("a dump, no server; slotscope analyze reads it")
    } else {
        is_port.then_some("a port alone; write HOST:PORT")
    }
}

/// A file name for data read from these servers.
pub fn name(seeds: &[Seed]) -> String {
    let plain = |c: char| match c {
        c if c.is_ascii_alphanumeric() || "-_.".contains(c) => c,
        _ => '-',
    };
    let first = seeds.first().map(|seed| seed.address.to_string());
    let name: String = first.unwrap_or_default().chars().map(plain).collect();
    name.trim_matches(['-', '.']).to_owned()
}

impl LiveArgs {
    /// The flags for connecting to these servers as command-line words, without passwords; one given in a URL becomes a
    /// prompt.
    pub fn words(&self, seeds: &[Seed]) -> Vec<String> {
        let in_url = seeds.iter().any(|seed| seed.credentials.password.is_some());
        let asks = self.ask_password || in_url && self.password_file.is_none();
        let typed = LiveArgs {
            user: self.user(seeds),
            ask_password: asks,
            ..self.clone()
        };
        let mut words = words(&typed);
        if self.max_load != MAX_LOAD {
            words.extend(["--max-load".into(), self.max_load.to_string()]);
        }
        if self.timeout != TIMEOUT {
            words.extend(["--timeout".into(), values::written(self.timeout)]);
        }
        words
    }

    /// Options for collecting all keys with sizes, into a directory to be chosen.
    ///
    /// # Errors
    /// As for `access`.
    pub fn options(&self, seeds: Vec<Seed>) -> Result<Options> {
        Ok(Options {
            access: self.access(&seeds)?,
            seeds: seeds.into_iter().map(|seed| seed.address).collect(),
            out: PathBuf::new(),
            force: false,
            level: Level::Sizes,
            from: None,
            count: COUNT,
            max_load: self.max_load,
            sample_percent: 100.0,
            times: None,
            load: None,
        })
    }

    /// The ACL user, from the flag or a URL.
    fn user(&self, seeds: &[Seed]) -> Option<String> {
        let in_urls = seeds.iter().find_map(|seed| seed.credentials.user.clone());
        self.user.clone().or(in_urls)
    }

    /// How to connect to the servers named by the user.
    ///
    /// # Errors
    /// A password, file or address is unusable.
    pub fn access(&self, seeds: &[Seed]) -> Result<Access> {
        let user = self.user(seeds);
        let password = self.password(seeds)?;
        if let (Some(user), None) = (&user, &password) {
            let reason = "has no password here; set REDISCLI_AUTH, or give --password-file or --ask-password";
            return Err(Error::bad(
                format!("user {}", Name::from(user.as_str())),
                reason,
            ));
        }
        Ok(Access {
            credentials: Credentials { user, password },
            tls: self.tls(seeds)?,
            address_map: self.address_map()?,
            timeout: self.timeout,
            silent: Silent::default(),
        })
    }

    /// The password from the source the user chose; `None` if there is none.
    fn password(&self, seeds: &[Seed]) -> Result<Option<Secret>> {
        if let Some(path) = &self.password_file {
            return in_file(path).map(Some);
        }
        if self.ask_password {
            return ask().map(Some);
        }
        let mut in_urls = seeds
            .iter()
            .filter_map(|seed| seed.credentials.password.clone());
        if let Some(password) = in_urls.next() {
            let warning = "a password in a URL is seen in the list of processes and kept in the history of the shell; \
                REDISCLI_AUTH, --password-file and --ask-password are not";
            say(warning);
            if in_urls.any(|next| next != password) {
                return Err(Error::bad(
                    "passwords",
                    "the URLs have different ones; one for all nodes is needed",
                ));
            }
            return Ok(Some(password));
        }
        let mut set = VARIABLES
            .iter()
            .filter_map(|name| Some((name, std::env::var_os(name)?)));
        match set.find(|(_, value)| !value.is_empty()) {
            None => Ok(None),
            Some((name, value)) => match value.into_string() {
                Ok(password) => Ok(Some(Secret::new(password))),
                Err(_) => Err(Error::bad(*name, "holds no UTF-8 text; set it anew")),
            },
        }
    }

    /// The TLS configuration, if a URL or flag asks for TLS.
    fn tls(&self, seeds: &[Seed]) -> Result<Option<TlsConfig>> {
        let by_flag = self.tls || self.sni.is_some();
        let by_file = self.tls_ca.is_some() || self.tls_cert.is_some();
        let is_wanted = by_flag || by_file || seeds.iter().any(|seed| seed.tls);
        let files = Tls {
            authorities: self.tls_ca.clone(),
            identity: self.tls_cert.clone().zip(self.tls_key.clone()),
            server_name: self.sni.clone(),
        };
        is_wanted.then(|| TlsConfig::load(&files)).transpose()
    }

    fn address_map(&self) -> Result<Vec<(Address, Address)>> {
        let pairs = self.address_map.iter().map(|text| {
            let sides = text.split_once('=');
            let pair = sides.and_then(|(from, to)| Some((Address::parse(from)?, Address::parse(to)?)));
            pair.ok_or_else(|| {
                let place = format!("--address-map {}", Name::from(text.as_str()));
                Error::bad(place, "write what the node announces and where it is reached: 172.17.0.2:6379=127.0.0.1:7001")
            })
        });
        pairs.collect()
    }
}

/// The first line of a file.
fn in_file(path: &Path) -> Result<Secret> {
    let bad = |reason: &str| Error::bad_file(path, reason);
    warn_of_readers(path);
    let bytes = small_file::read(
        path,
        MAX_BYTES,
        "is longer than any password; name the file that holds one",
    )?;
    let text = String::from_utf8(bytes).map_err(|_| bad("holds no UTF-8 text, so no password"))?;
    match text.lines().next() {
        None | Some("") => Err(bad("its first line is empty; the password belongs there")),
        Some(line) => Ok(Secret::new(line)),
    }
}

/// Warns if others can read the file.
#[cfg(unix)]
fn warn_of_readers(path: &Path) {
    use std::fs::File;
    use std::os::unix::fs::MetadataExt;

    let others = |file: File| {
        file.metadata()
            .is_ok_and(|metadata| metadata.is_file() && metadata.mode() & 0o077 != 0)
    };
    if File::open(path).is_ok_and(others) {
        let file = Name::from(path);
        say(&format!(
            "{file}: other users may read or change it; chmod 600 keeps them out"
        ));
    }
}

#[cfg(not(unix))]
fn warn_of_readers(_: &Path) {}

/// Prompts on the terminal without echo.
fn ask() -> Result<Secret> {
    let failed = |_: io::Error| {
        let reason = "no terminal to ask on; give --password-file, or set REDISCLI_AUTH";
        Error::option("ask-password", "", reason)
    };
    match rpassword::prompt_password("Password: ").map_err(failed)? {
        empty if empty.is_empty() => Err(Error::option("ask-password", "", "nothing was typed")),
        password => Ok(Secret::new(password)),
    }
}

/// Prints a line to standard error, ignoring a closed one.
fn say(message: &str) {
    drop(writeln!(io::stderr(), "slotscope: warning: {message}"));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(text: &[u8]) -> tempfile::NamedTempFile {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text).unwrap();
        file
    }

    #[test]
    fn the_first_line_of_a_file_is_the_password() {
        let password = |text: &[u8]| in_file(file(text).path());
        for text in ["p w", "p w\n", "p w\r\nsecond line\n"] {
            assert_eq!(password(text.as_bytes()).unwrap(), Secret::new("p w"));
        }
        for text in [&b""[..], b"\nin line two\n", b"\xFF\n", &[b'x'; 100_000]] {
            let error = password(text).unwrap_err().to_string();
            assert!(
                !error.contains("xxxxxx") && !error.contains("line two"),
                "{error}"
            );
        }
    }

    #[test]
    fn a_password_comes_from_one_place() {
        let seeds = |urls: &[&str]| {
            seeds(&urls.iter().map(|url| url.to_string()).collect::<Vec<_>>()).unwrap()
        };
        let file = file(b"of the file");
        let mut args = LiveArgs {
            password_file: Some(file.path().into()),
            ..LiveArgs::default()
        };
        let url = seeds(&["redis://me:of-the-url@h"]);
        let Credentials { user, password } = args.access(&url).unwrap().credentials;
        assert_eq!(
            (user.as_deref(), password),
            (Some("me"), Some(Secret::new("of the file")))
        );
        args.password_file = None;
        assert_eq!(
            args.access(&url).unwrap().credentials.password,
            Some(Secret::new("of-the-url"))
        );
        let two = seeds(&["redis://:a-secret@h", "redis://:b-secret@h"]);
        let error = args.access(&two).unwrap_err().to_string();
        assert!(
            error.contains("different") && !error.contains("secret"),
            "{error}"
        );
    }

    #[test]
    fn the_words_of_a_command_line_have_the_user_of_a_url_and_no_password() {
        let words = |url: &str, args: LiveArgs| args.words(&seeds(&[url.into()]).unwrap());
        let plain = || LiveArgs {
            max_load: MAX_LOAD,
            timeout: TIMEOUT,
            ..LiveArgs::default()
        };
        assert_eq!(words("redis://h", plain()), [""; 0]);
        let of_url = words("redis://me:secret@h", plain());
        assert_eq!(of_url, ["--user", "me", "--ask-password"]);
        let slow = LiveArgs {
            password_file: Some("pw".into()),
            timeout: Duration::from_secs(60),
            max_load: 5.0,
            ..plain()
        };
        let flags = [
            "--user",
            "me",
            "--password-file",
            "pw",
            "--max-load",
            "5",
            "--timeout",
            "60s",
        ];
        assert_eq!(words("redis://me:secret@h", slow), flags);
    }

    #[test]
    fn what_is_read_is_named_after_the_first_server() {
        let name = |url: &str| name(&seeds(&[url.into()]).unwrap());
        assert_eq!(name("redis://:secret@10.0.0.1:7000"), "10.0.0.1-7000");
        assert_eq!(name("[::1]:7000"), "1-7000");
        assert_eq!(name("unix:///run/redis.sock"), "run-redis.sock");
    }

    #[test]
    fn what_is_no_server_is_answered_with_what_to_type() {
        let error = |url: &str| seeds(&[url.into()]).err().map(|error| error.to_string());
        assert_eq!(
            error("6379").unwrap(),
            "6379: a port alone; write HOST:PORT"
        );
        for dump in ["Cargo.toml", "s3://b/dump.rdb", "gs://b/dumps/"] {
            let said = error(dump).unwrap();
            assert_eq!(
                said,
                format!("{dump}: a dump, no server; slotscope analyze reads it")
            );
        }
        assert_eq!(error("10.0.0.1"), None);
    }

    #[test]
    fn addresses_are_mapped_in_pairs() {
        let map = |text: &str| {
            LiveArgs {
                address_map: vec![text.into()],
                ..LiveArgs::default()
            }
            .address_map()
        };
        let [from, to] =
            ["172.17.0.2:6379", "localhost:7001"].map(|text| Address::parse(text).unwrap());
        assert_eq!(map("172.17.0.2:6379=localhost:7001").unwrap(), [(from, to)]);
        for text in ["a:1", "a:1=", "=b:1", "a:x=b:1", "a:1=b:99999"] {
            let error = map(text).unwrap_err().to_string();
            assert!(
                error.starts_with(&format!("--address-map {text}: write")),
                "{error}"
            );
        }
    }
}
