//! The manual pages built into the program.

/// A manual page.
pub struct Topic {
    /// The word after `slotscope help`.
    pub name: &'static str,
    /// The question it answers.
    pub about: &'static str,
    /// The page, in Markdown.
    pub page: &'static str,
}

impl Topic {
    /// The topic of that name.
    pub(crate) fn named(name: &str) -> Option<&'static Topic> {
        TOPICS.iter().find(|topic| topic.name == name)
    }
}

/// All topics in manual order.
pub static TOPICS: &[Topic] = &[
    Topic {
        name: "getting-started",
        about: "install, take the keys, read the report, fix the cause",
        page: include_str!("../../../docs/getting-started.md"),
    },
    Topic {
        name: "troubleshooting",
        about: "by symptom: full, hot, CROSSSLOT, big keys; FAQ",
        page: include_str!("../../../docs/troubleshooting.md"),
    },
    Topic {
        name: "glossary",
        about: "the words of reports and manual",
        page: include_str!("../../../docs/glossary.md"),
    },
    Topic {
        name: "formats",
        about: "what is read, and how to take a dump",
        page: include_str!("../../../docs/formats.md"),
    },
    Topic {
        name: "verdict",
        about: "how to read a report: words, limits, what to do",
        page: include_str!("../../../docs/verdict.md"),
    },
    Topic {
        name: "statistics",
        about: "the formulas, with a worked example",
        page: include_str!("../../../docs/statistics.md"),
    },
    Topic {
        name: "tags",
        about: "which part of a key belongs in braces, with three worked cases",
        page: include_str!("../../../docs/advise.md"),
    },
    Topic {
        name: "naming",
        about: "the rules of lint, and slotscope.toml",
        page: include_str!("../../../docs/naming.md"),
    },
    Topic {
        name: "limits",
        about: "memory, exactness, and what it does not do",
        page: include_str!("../../../docs/limits.md"),
    },
    Topic {
        name: "commands",
        about: "shared flags, hash policies, exit codes, environment",
        page: include_str!("../../../docs/commands.md"),
    },
    Topic {
        name: "services",
        about: "ElastiCache, MemoryDB, Memorystore, Azure, Kubernetes",
        page: include_str!("../../../docs/services.md"),
    },
    Topic {
        name: "live",
        about: "a shard that is hot right now, Prometheus, alerts",
        page: include_str!("../../../docs/live.md"),
    },
    Topic {
        name: "filters",
        about: "keys by name, type, size and TTL",
        page: include_str!("../../../docs/filters.md"),
    },
    Topic {
        name: "charts",
        about: "how to read each chart",
        page: include_str!("../../../docs/charts.md"),
    },
    Topic {
        name: "object-stores",
        about: "dumps in S3, Google Cloud Storage, Azure, on web servers",
        page: include_str!("../../../docs/object-stores.md"),
    },
    Topic {
        name: "many-machines",
        about: "counting on many machines, or on Spark, for one report",
        page: include_str!("../../../docs/many-machines.md"),
    },
    Topic {
        name: "python",
        about: "the Python package",
        page: include_str!("../../../docs/python.md"),
    },
    Topic {
        name: "security",
        about: "what is promised for names, passwords, outputs",
        page: include_str!("../../../docs/security.md"),
    },
];
