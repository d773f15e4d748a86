//! The kinds of servers in tests: the installed one, and those downloaded by `tests/servers`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use crate::redis::Server;

/// The variable that names the server in campaigns.
const GIVEN: &str = "REDIS_SERVER";

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Kind {
    /// The redis-server on the PATH, version 7.0 or later.
    Installed,
    /// Redis 7.4.1, with modules on request.
    Redis74,
    /// Redis 8.2.3.
    Redis82,
    /// Valkey 9.1.2.
    Valkey91,
    /// Valkey 9.0.0.
    Valkey90,
    /// The program in REDIS_SERVER, for campaigns: the newest Redis, or a Valkey.
    Given,
}

impl Kind {
    /// All kinds available here.
    pub fn all() -> Vec<Kind> {
        let downloaded = [
            Kind::Installed,
            Kind::Redis74,
            Kind::Redis82,
            Kind::Valkey91,
            Kind::Valkey90,
        ];
        downloaded.into_iter().chain(Kind::given()).collect()
    }

    /// The kind in REDIS_SERVER, if set.
    pub fn given() -> Option<Kind> {
        std::env::var_os(GIVEN).map(|_| Kind::Given)
    }

    /// Starts an isolated server with additional `options`.
    pub fn start(self, options: &[&str]) -> Server {
        Server::of(self, options)
    }

    /// The command that starts it.
    pub fn command(self) -> Command {
        match self {
            Kind::Installed => Command::new("redis-server"),
            Kind::Redis74 => {
                let folder = downloaded("redis-7.4.1");
                let mut command = Command::new(folder.join("redis-server"));
                // It needs an OpenSSL that distributions have dropped.
                command.env("LD_LIBRARY_PATH", folder);
                command
            }
            Kind::Given => Command::new(std::env::var_os(GIVEN).expect(GIVEN)),
            Kind::Redis82 => Command::new(downloaded("redis-8.2.3").join("redis-server")),
            Kind::Valkey90 | Kind::Valkey91 => {
                let folder = match self {
                    Kind::Valkey90 => "valkey-9.0.0",
                    _ => "valkey-9.1.2",
                };
                let mut command = Command::new(downloaded(folder).join("valkey-server"));
                // It is built with glibc's malloc, under which the memory of a key varies.
                if let Some(library) = jemalloc() {
                    command.env("LD_PRELOAD", library);
                }
                command
            }
        }
    }

    /// Whether it is a Valkey.
    pub fn is_valkey(self) -> bool {
        static GIVEN_IS_VALKEY: LazyLock<bool> = LazyLock::new(|| {
            let version = Kind::Given.command().arg("--version").output();
            let said = version.expect("the server that REDIS_SERVER names").stdout;
            String::from_utf8_lossy(&said).contains("Valkey")
        });
        match self {
            Kind::Given => *GIVEN_IS_VALKEY,
            kind => matches!(kind, Kind::Valkey90 | Kind::Valkey91),
        }
    }

    /// Whether it has vector sets.
    pub fn has_vectors(self) -> bool {
        self == Kind::Redis82 || self.has_arrays()
    }

    /// Whether it has arrays.
    pub fn has_arrays(self) -> bool {
        self == Kind::Given && !self.is_valkey()
    }

    /// The options that load its bundled modules.
    pub fn modules(self) -> Vec<String> {
        if self != Kind::Redis74 {
            return Vec::new();
        }
        let path = |file| downloaded("redis-7.4.1").join(file).display().to_string();
        let paths = ["rejson.so", "redisbloom.so", "redistimeseries.so"].map(path);
        let options = paths
            .into_iter()
            .flat_map(|path| ["--loadmodule".into(), path]);
        options.collect()
    }
}

/// The distribution's jemalloc, which Debian's redis-server needs.
pub fn jemalloc() -> Option<PathBuf> {
    let folders = ["x86_64-linux-gnu", "aarch64-linux-gnu", ".", "../lib64"];
    let paths = folders.map(|folder| Path::new("/usr/lib").join(folder).join("libjemalloc.so.2"));
    paths.into_iter().find(|path| path.is_file())
}

/// The folder of a downloaded server: in the target directory, like the program under test.
fn downloaded(name: &str) -> PathBuf {
    let program = crate::run::program();
    let mut folders = program
        .ancestors()
        .map(|folder| folder.join("servers").join(name));
    let found = folders.find(|folder| folder.is_dir());
    found.unwrap_or_else(|| panic!("no {name} in the target directory; tests/servers downloads it"))
}
