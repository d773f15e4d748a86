//! Managed services and what each lets its users do to a cluster. None of them allows moving single slots.

use slotscope_topology::Topology;

/// A managed service.
#[derive(Debug, PartialEq, Eq)]
pub struct Service {
    /// Its value in `--service`.
    pub name: &'static str,
    /// Its display name.
    pub title: &'static str,
    /// Parts of its node names.
    domains: &'static [&'static str],
    /// Whether a backup can be restored into shards with chosen slot ranges.
    pub has_ranges: bool,
    /// The command that gives a cluster larger nodes.
    pub larger_nodes: Option<&'static str>,
    /// Self-hosted: everything can be done.
    pub is_self: bool,
}

const SERVICES: [Service; 8] = [
    Service {
        has_ranges: true,
        larger_nodes: Some(
            "aws elasticache modify-replication-group --replication-group-id ID --cache-node-type TYPE --apply-immediately",
        ),
        ..managed(
            "elasticache",
            "Amazon ElastiCache",
            &[".cache.amazonaws.com"],
        )
    },
    Service {
        larger_nodes: Some("aws memorydb update-cluster --cluster-name NAME --node-type TYPE"),
        ..managed("memorydb", "Amazon MemoryDB", &[".memorydb."])
    },
    managed("memorystore", "Google Cloud Memorystore", &[]),
    managed(
        "azure",
        "Azure",
        &[
            ".redis.cache.windows.net",
            ".redis.azure.net",
            ".redisenterprise.cache.azure.net",
        ],
    ),
    managed(
        "redis-cloud",
        "Redis Cloud",
        &[
            ".redislabs.com",
            ".redis-cloud.com",
            ".redns.redis-cloud.com",
        ],
    ),
    managed("aiven", "Aiven", &[".aivencloud.com"]),
    managed("alibaba", "Alibaba Cloud Tair", &[".rds.aliyuncs.com"]),
    Service {
        is_self: true,
        ..managed("self", "a cluster of your own", &[])
    },
];

const fn managed(
    name: &'static str,
    title: &'static str,
    domains: &'static [&'static str],
) -> Service {
    Service {
        name,
        title,
        domains,
        has_ranges: false,
        larger_nodes: None,
        is_self: false,
    }
}

impl Service {
    /// The service of this name.
    pub fn named(name: &str) -> Option<&'static Service> {
        SERVICES.iter().find(|service| service.name == name)
    }

    /// The names of all.
    pub fn names() -> impl Iterator<Item = &'static str> {
        SERVICES.iter().map(|service| service.name)
    }

    /// The service whose domain a listing's nodes are in; `None` if there is none.
    pub fn of(topology: &Topology) -> Option<&'static Service> {
        let hosts = topology.nodes.iter().flat_map(|node| {
            let of_address = node
                .address
                .as_deref()
                .and_then(|address| address.rsplit_once(':'));
            [node.hostname.as_deref(), of_address.map(|(host, _)| host)]
        });
        let hosts: Vec<&str> = hosts.flatten().collect();
        let is_in = |domain: &str| hosts.iter().any(|host| host.contains(domain));
        SERVICES
            .iter()
            .find(|service| service.domains.iter().any(|domain| is_in(domain)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_service_is_known_by_the_domain_of_its_nodes() {
        let of = |hostname: &str| {
            let listing = format!(
                "a 10.0.0.1:6379@16379,{hostname} myself,master - 0 0 1 connected 0-16383\n"
            );
            let topology = Topology::parse("test", listing.as_bytes()).unwrap();
            Service::of(&topology).map(|service| service.name)
        };
        assert_eq!(
            of("shop-0001-001.shop.ab12.euw1.cache.amazonaws.com"),
            Some("elasticache")
        );
        assert_eq!(
            of("shop-0001-001.shop.ab12.memorydb.eu-west-1.amazonaws.com"),
            Some("memorydb")
        );
        assert_eq!(of("shop.redis.cache.windows.net"), Some("azure"));
        assert_eq!(of("ec2-1-2-3-4.compute-1.amazonaws.com"), None);
        assert_eq!(of("redis-1.example.com"), None);
        assert_eq!(of(""), None);
    }

    #[test]
    fn only_one_service_takes_ranges_and_names_are_distinct() {
        let names: std::collections::BTreeSet<_> = Service::names().collect();
        assert_eq!(names.len(), SERVICES.len());
        let of_ranges: Vec<_> = SERVICES
            .iter()
            .filter(|service| service.has_ranges)
            .collect();
        assert_eq!(of_ranges, [Service::named("elasticache").unwrap()]);
    }
}
