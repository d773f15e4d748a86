//! Finds the servers to read: the first of the named servers that answers says whether it is part of a cluster.

use slotscope_engine::error::{Error, Result};

use crate::address::Address;
use crate::connection::{Access, Connection};
use crate::endpoints;
use crate::resp::Reply;
use crate::watch::Watch;

/// The servers to read.
pub(crate) enum Site<'a> {
    /// A server that is not part of a cluster.
    Lone(Address),
    /// A cluster.
    Cluster(Box<Watch<'a>>),
}

/// Asks the servers in turn.
///
/// # Errors
/// None answers; several answer for themselves only.
pub(crate) fn find<'a>(seeds: &[Address], access: &'a Access) -> Result<Site<'a>> {
    let mut first = None;
    for seed in seeds {
        match ask(seed, access) {
            Ok(Site::Lone(address)) if seeds.len() > 1 => {
                let what = "is not part of a cluster; name one such server at a time";
                return Err(Error::bad(address.to_string(), what));
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
    // A server outside of a cluster refuses, and so does one that does not know the command.
    match connection.ask("CLUSTER NODES", &[b"CLUSTER", b"NODES"])? {
        Reply::Error(said)
            if said.contains("cluster support disabled") || said.contains("unknown command") =>
        {
            Ok(Site::Lone(seed.clone()))
        }
        Reply::Error(said) => Err(connection.refused("CLUSTER NODES", &said)),
        _ => {
            let endpoints = endpoints::ask(&mut connection, seed, access.tls.is_some())?;
            Watch::new(access, seed.clone(), endpoints, connection)
                .map(|watch| Site::Cluster(Box::new(watch)))
        }
    }
}
