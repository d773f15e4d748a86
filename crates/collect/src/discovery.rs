//! Finds the servers to read: the first named server that answers tells whether it is part of a cluster.

use slotscope_base::error::{Error, Result};
use slotscope_base::name::Name;
use slotscope_base::text;

use crate::address::Address;
use crate::connection::{Access, Connection};
use crate::endpoints;
use crate::resp::Reply;
use crate::watch::Watch;

/// The servers to read.
pub(crate) enum Site<'a> {
    /// A server outside of clusters.
    Lone(Address),
    /// A cluster.
    Cluster(Box<Watch<'a>>),
}

/// Asks the servers in turn.
///
/// # Errors
/// No server answers, or several standalone servers do.
pub(crate) fn find<'a>(seeds: &[Address], access: &'a Access) -> Result<Site<'a>> {
    let mut first = None;
    for seed in seeds {
        match ask(seed, access) {
            Ok(Site::Lone(address)) if seeds.len() > 1 => {
                let reason = "is not part of a cluster; name one such server at a time";
                return Err(Error::bad(address.to_string(), reason));
            }
            Ok(site) => return Ok(site),
            Err(error) => first = first.or(Some(error)),
        }
    }
    Err(first
        .unwrap_or_else(|| Error::bad("collect", "no server is named; write redis://HOST:PORT")))
}

fn ask<'a>(seed: &Address, access: &'a Access) -> Result<Site<'a>> {
    let mut connection = Connection::open(seed, access)?;
    // Servers outside of clusters refuse, as do those that do not know the command.
    match connection.ask("CLUSTER NODES", &[b"CLUSTER", b"NODES"])? {
        Reply::Error(refusal) if refusal.contains("cluster support disabled") => {
            Ok(Site::Lone(seed.clone()))
        }
        Reply::Error(refusal) if refusal.contains("unknown command") => {
            let reply = connection.ask("SENTINEL MASTERS", &[b"SENTINEL", b"MASTERS"])?;
            let scheme = if access.tls.is_some() {
                "rediss"
            } else {
                "redis"
            };
            match watched(&reply, scheme) {
                Some(primaries) => Err(Error::bad(
                    connection.place(),
                    format!(
                        "this is a Sentinel, which has no keys; name a primary in its place: {primaries}"
                    ),
                )),
                None => Ok(Site::Lone(seed.clone())),
            }
        }
        Reply::Error(refusal) => Err(connection.refused("CLUSTER NODES", &refusal)),
        _ => {
            let endpoints = endpoints::ask(&mut connection, seed, access.tls.is_some())?;
            Watch::new(access, seed.clone(), endpoints, connection)
                .map(|watch| Site::Cluster(Box::new(watch)))
        }
    }
}

/// The primaries watched by a Sentinel, as URLs; `None` if it is not the reply of one.
fn watched(reply: &Reply, scheme: &str) -> Option<String> {
    const SHOWN: usize = 5;
    let shown = reply.items()?.iter().take(SHOWN).map(|primary| {
        let field = |name| {
            let value = primary.field(name)?.text()?;
            Some(text::name(&Name::from(value), 60))
        };
        let (name, host, port) = (field("name")?, field("ip")?, field("port")?);
        Some(format!("{scheme}://{host}:{port} ({name})"))
    });
    let shown: Vec<String> = shown.collect::<Option<_>>()?;
    Some(if shown.is_empty() {
        "it watches none yet".into()
    } else {
        shown.join(", ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted;

    #[test]
    fn a_sentinel_says_where_its_primaries_are() {
        let unknown = || b"-ERR unknown command\r\n".to_vec();
        let fields = "*6\r\n$4\r\nname\r\n$6\r\nshop\x1b[\r\n$2\r\nip\r\n$8\r\n10.0.0.7\r\n$4\r\nport\r\n$4\r\n6379\r\n";
        for (primaries, expected) in [
            (
                format!("*1\r\n{fields}"),
                "redis://10.0.0.7:6379 (shop\\x1b[)",
            ),
            ("*0\r\n".to_owned(), "it watches none yet"),
        ] {
            let seed = scripted::start(move |command| {
                Some(match command {
                    "SENTINEL MASTERS" => primaries.clone().into_bytes(),
                    _ => unknown(),
                })
            });
            let access = scripted::access();
            let Err(error) = find(&[seed], &access) else {
                panic!("a Sentinel was taken for a server")
            };
            let said = error.to_string();
            assert!(
                said.contains("Sentinel") && said.ends_with(expected),
                "{said}"
            );
        }
        let access = scripted::access();
        let server = scripted::start(move |_| Some(unknown()));
        assert!(matches!(find(&[server], &access), Ok(Site::Lone(_))));
    }
}
