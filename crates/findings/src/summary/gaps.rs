//! Gaps in the loads that nodes are judged by: unreadable or missing values, and rejected rows. Even a few may hide the
//! heaviest keys, whose sizes programs write in other forms.

use slotscope_base::metric::Metric;
use slotscope_read::format::Lost;

use slotscope_model::InputFacts;
use slotscope_model::role_load::RoleLoad;

/// With a larger share of missing sizes, memory is not judged.
const MISSING_UNJUDGED: f64 = 0.1;
/// At least this many rejected rows, and a larger share of them, count as lost keys.
const LOST_ROWS: u64 = 3;
const LOST_SHARE: f64 = 0.001;

/// The gaps of an input.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Gaps {
    /// Sizes that could not be read.
    pub sizes: Option<Gap>,
    /// Numbers of operations that could not be read.
    pub operations: Option<Gap>,
    /// Keys without a size, if others have one.
    pub without_size: u64,
    /// Keys.
    pub keys: u64,
    /// Rejected rows, if more than a few.
    pub lost_rows: u64,
}

/// Unreadable values.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Gap {
    /// Their kind.
    pub role: Lost,
    /// How many.
    pub count: u64,
    /// The number of rows.
    pub of: u64,
    /// The first of them, verbatim or redacted.
    pub text: String,
    /// Line number of the first.
    pub line: Option<u64>,
}

impl Gaps {
    /// The gaps of `input`.
    pub(crate) fn of(input: &InputFacts) -> Gaps {
        let gap = |role: Lost| {
            let values = input
                .unreadable_values
                .iter()
                .find(|values| values.role == role)?;
            Some(Gap {
                role,
                count: values.count,
                of: input.keys,
                text: values.first.reason.clone(),
                line: values.first.line,
            })
        };
        let known = input.weights.get(Metric::Bytes).copied();
        let unread = gap(Lost::Size).map_or(0, |gap| gap.count);
        let rejected = input.rejected.count;
        let is_lost =
            rejected >= LOST_ROWS && rejected as f64 >= LOST_SHARE * (input.keys + rejected) as f64;
        Gaps {
            sizes: gap(Lost::Size),
            operations: gap(Lost::Operations),
            without_size: known.map_or(0, |known| input.keys.saturating_sub(known + unread)),
            keys: input.keys,
            lost_rows: if is_lost { rejected } else { 0 },
        }
    }

    /// The unreadable values that belong to this load.
    pub(crate) fn unreadable(&self, load: &RoleLoad) -> Option<&Gap> {
        match load.measure.metric() {
            _ if load.is_of_sizes() => self.sizes.as_ref(),
            Metric::Ops => self.operations.as_ref(),
            _ => None,
        }
    }

    /// Whether too many values of this load are missing.
    pub(crate) fn are_missing(&self, load: &RoleLoad) -> bool {
        load.is_of_sizes() && self.without_size as f64 >= MISSING_UNJUDGED * self.keys.max(1) as f64
    }

    /// The extra fair shares, for `nodes` nodes, that the fullest may hold if all lost rows are its keys.
    pub(crate) fn lost_shares(&self, nodes: usize) -> f64 {
        let total = self.keys + self.lost_rows;
        self.lost_rows as f64 / total.max(1) as f64 * nodes as f64
    }
}
