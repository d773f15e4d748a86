//! Finds the servers to read: the first named server that answers tells whether it is part of a cluster.

use slotscope_engine::error::{Error, Result};

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
        Reply::Error(refusal)
            if ["cluster support disabled", "unknown command"]
                .iter()
                .any(|words| refusal.contains(words)) =>
        {
            Ok(Site::Lone(seed.clone()))
        }
        Reply::Error(refusal) => Err(connection.refused("CLUSTER NODES", &refusal)),
        _ => {
            let endpoints = endpoints::ask(&mut connection, seed, access.tls.is_some())?;
            Watch::new(access, seed.clone(), endpoints, connection)
                .map(|watch| Site::Cluster(Box::new(watch)))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scripted;

    #[test]
    fn a_server_that_knows_no_cluster_is_alone() {
        let access = scripted::access();
        let server = scripted::start(|_| Some(b"-ERR unknown command\r\n".to_vec()));
        assert!(matches!(find(&[server], &access), Ok(Site::Lone(_))));
    }
}
