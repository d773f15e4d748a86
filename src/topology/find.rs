//! Nodes as people name them: by an id, by the start of one, or by an address.

use crate::name::Name;
use crate::text::list;
use crate::topology::Topology;

/// Ids that an error names.
const SHOWN: usize = 6;

impl Topology {
    /// The index of the node that is called `name`.
    ///
    /// # Errors
    /// As `find`.
    pub fn find(&self, name: &str) -> Result<usize, String> {
        let nodes = self.nodes.iter();
        find(
            nodes.map(|node| (node.id.as_str(), node.address.as_deref())),
            name,
        )
    }
}

/// The place of the node that is called `name` among `nodes`, each an id and an address: a whole id or address comes
/// before the start of an id.
///
/// # Errors
/// No node is called so, or several are; for people.
pub fn find<'n>(
    nodes: impl Iterator<Item = (&'n str, Option<&'n str>)> + Clone,
    name: &str,
) -> Result<usize, String> {
    let is_whole = |(id, address): (&str, Option<&str>)| id == name || address == Some(name);
    if let Some(at) = nodes.clone().position(is_whole) {
        return Ok(at);
    }
    let starts =
        |(_, (id, _)): &(usize, (&str, Option<&str>))| !name.is_empty() && id.starts_with(name);
    let mut found = nodes.clone().enumerate().filter(starts).map(|(at, _)| at);
    match (found.next(), found.count()) {
        (Some(at), 0) => Ok(at),
        (Some(_), more) => Err(format!(
            "{} nodes are called so; write more of the id",
            more + 1
        )),
        (None, _) => {
            let ids: Vec<Name> = nodes.map(|(id, _)| Name::from(id)).collect();
            Err(format!(
                "there is no such node; there are: {}",
                list(ids.iter(), SHOWN)
            ))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_is_named_by_its_id_the_start_of_it_or_its_address() {
        let text = b"abc1 10.0.0.1:1@2 master - 0 0 1 connected 0-99\n\
            abd2 10.0.0.2:1@2 master - 0 0 1 connected 100-16382\n\
            abd22 10.0.0.3:1@2 master - 0 0 1 connected 16383\n";
        let topology = Topology::parse("nodes", text).unwrap();
        for (name, at) in [
            ("abc", 0),
            ("abc1", 0),
            ("10.0.0.2:1", 1),
            ("abd2", 1),
            ("abd22", 2),
        ] {
            assert_eq!(topology.find(name), Ok(at), "{name}");
        }
        let several = |count| Err(format!("{count} nodes are called so; write more of the id"));
        assert_eq!(topology.find("ab"), several(3));
        assert_eq!(topology.find("abd"), several(2));
        for name in ["", "x", "10.0.0", "abc12"] {
            let none = Err(String::from(
                "there is no such node; there are: abc1, abd2, abd22",
            ));
            assert_eq!(topology.find(name), none, "{name}");
        }
        let many = Topology::even(9, String::new()).unwrap();
        assert!(
            many.find("x")
                .unwrap_err()
                .ends_with("even-5, even-6 and 3 more")
        );
    }
}
