//! How servers migrate slots, depending on their version.

/// The way servers migrate slots.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Migration {
    /// CLUSTER SETSLOT and MIGRATE, key by key.
    #[default]
    Setslot,
    /// CLUSTER MIGRATESLOTS of Valkey 9, atomically.
    Valkey,
    /// CLUSTER MIGRATION of Redis 8.4, atomically.
    Redis,
}

impl Migration {
    /// The best method that all servers support, by version, such as `valkey 9.1.2`.
    pub fn of<'a>(versions: impl Iterator<Item = Option<&'a str>>) -> Self {
        let versions = versions.collect::<Option<Vec<&str>>>().unwrap_or_default();
        let are_all = |server: &str, least: (u64, u64)| {
            let is_new = |version: &&str| {
                let numbers = version.strip_prefix(server).map(str::trim);
                numbers
                    .and_then(number)
                    .is_some_and(|number| number >= least)
            };
            !versions.is_empty() && versions.iter().all(is_new)
        };
        if are_all("valkey ", (9, 0)) {
            Migration::Valkey
        } else if are_all("redis ", (8, 4)) {
            Migration::Redis
        } else {
            Migration::Setslot
        }
    }

    /// Its value in `plan --commands`.
    pub fn name(self) -> &'static str {
        match self {
            Migration::Setslot => "setslot",
            Migration::Valkey => "valkey",
            Migration::Redis => "redis-8.4",
        }
    }

    /// Whether slots migrate as a whole, without blocking the node for each key.
    pub fn is_atomic(self) -> bool {
        self != Migration::Setslot
    }
}

/// Major and minor version.
fn number(version: &str) -> Option<(u64, u64)> {
    let mut parts = version.split('.').map(|part| part.parse::<u64>().ok());
    Some((parts.next()??, parts.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_move_atomically_where_all_servers_can() {
        let of = |versions: &[&str]| Migration::of(versions.iter().map(|of| Some(*of)));
        assert_eq!(of(&["valkey 9.1.2", "valkey 9.0.0"]), Migration::Valkey);
        assert_eq!(of(&["valkey 9.1.2", "valkey 8.1.0"]), Migration::Setslot);
        assert_eq!(of(&["redis 8.4.0", "redis 8.10.1"]), Migration::Redis);
        assert_eq!(of(&["redis 8.2.0"]), Migration::Setslot);
        assert_eq!(of(&["redis 8.4.0", "valkey 9.0.0"]), Migration::Setslot);
        assert_eq!(of(&[]), Migration::Setslot);
        let one_unknown = [Some("valkey 9.1.2"), None];
        assert_eq!(Migration::of(one_unknown.into_iter()), Migration::Setslot);
    }
}
