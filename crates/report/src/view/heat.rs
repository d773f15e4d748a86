//! Loads counted over time, and how their amounts and rates are printed.

use serde::Serialize;

use slotscope_base::text::{bytes, bytes_in_three_digits, counted, micros, percent, three_digits};

/// Microseconds per second.
const MICROS: f64 = 1e6;

/// A measure of how busy a slot is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "cli", derive(clap::ValueEnum))]
#[serde(rename_all = "snake_case")]
pub enum Heat {
    /// Operations on keys, of captures
    Ops,
    /// CPU time in microseconds, of CLUSTER SLOT-STATS
    Cpu,
    /// Bytes of network traffic in and out, of CLUSTER SLOT-STATS
    Network,
}

impl Heat {
    /// The largest amount that a single command or message usually adds: amounts of this size vary by chance.
    pub fn grain(self) -> u64 {
        match self {
            Heat::Ops => 1,
            Heat::Cpu => 1000,
            Heat::Network => 16 << 10,
        }
    }

    /// Its name within a sentence.
    pub fn noun(self) -> &'static str {
        match self {
            Heat::Ops => "operations",
            Heat::Cpu => "CPU time",
            Heat::Network => "network traffic",
        }
    }

    /// The same as a title.
    pub fn title(self) -> &'static str {
        match self {
            Heat::Ops => "Operations",
            Heat::Cpu => "CPU time",
            Heat::Network => "Network traffic",
        }
    }

    /// The noun after "no".
    pub fn one(self) -> &'static str {
        match self {
            Heat::Ops => "operation",
            heat => heat.noun(),
        }
    }

    /// An amount with its unit: `33,000 operations`, `9.31 s of CPU time`.
    pub fn amount(self, amount: u64) -> String {
        match self {
            Heat::Ops => counted(amount, "operation"),
            Heat::Cpu => format!("{} of CPU time", micros(amount as f64)),
            Heat::Network => format!("{} of network traffic", bytes(amount)),
        }
    }

    /// An amount in a table.
    pub fn cell(self, amount: u64) -> String {
        match self {
            Heat::Ops => slotscope_base::text::grouped(amount),
            Heat::Cpu => micros(amount as f64),
            Heat::Network => bytes(amount),
        }
    }

    /// The column title of amounts.
    pub fn heading(self) -> &'static str {
        match self {
            Heat::Ops => "ops",
            Heat::Cpu => "CPU time",
            Heat::Network => "traffic",
        }
    }

    /// The column title of peak rates.
    pub fn most_heading(self) -> &'static str {
        match self {
            Heat::Ops => "most ops/s",
            Heat::Cpu => "most of a core",
            Heat::Network => "most bytes/s",
        }
    }

    /// A rate in that column.
    pub fn rate_cell(self, per_second: f64) -> String {
        match self {
            Heat::Ops => three_digits(per_second),
            Heat::Cpu => percent(per_second / MICROS),
            Heat::Network => bytes_in_three_digits(per_second),
        }
    }

    /// A rate with its unit: `110 ops/s`, `43.1% of a core`, `1.2 MiB/s`.
    pub fn rate(self, per_second: f64) -> String {
        let rate = self.rate_cell(per_second);
        match self {
            Heat::Ops => format!("{rate} ops/s"),
            Heat::Cpu => format!("{rate} of a core"),
            Heat::Network => format!("{rate}/s"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_and_rates_have_the_unit_that_people_use() {
        let of = |heat: Heat, amount| (heat.amount(amount), heat.rate(amount as f64 / 10.0));
        let pair = |amount: &str, rate: &str| (amount.to_owned(), rate.to_owned());
        assert_eq!(
            of(Heat::Ops, 33_000),
            pair("33,000 operations", "3,300 ops/s")
        );
        assert_eq!(
            of(Heat::Cpu, 4_310_000),
            pair("4.31 s of CPU time", "43.1% of a core")
        );
        assert_eq!(
            of(Heat::Network, 3 << 20),
            pair("3.00 MiB of network traffic", "307 KiB/s")
        );
        assert_eq!(Heat::Cpu.amount(600_000_000), "10 min of CPU time");
    }
}
