//! Metric families in the text format of Prometheus and OpenMetrics; a name has one unit and one type.

use std::collections::HashSet;
use std::fmt::Write;

use slotscope_base::name::{Name, truncated};

/// The content type of a page that ends with [`END`].
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";
/// The end marker of OpenMetrics.
pub const END: &str = "# EOF\n";
/// The prefix of every family.
pub const MARK: &str = "# HELP slotscope_";

/// Maximum characters of a label value.
const LABEL: usize = 200;

/// A label with its value.
pub(crate) type Label = (&'static str, Name);

/// Consecutive families of gauges. Each series is written once: duplicates are invalid, and readers keep either.
#[derive(Default)]
pub struct Families {
    /// Labels of every sample.
    common: Vec<Label>,
    text: String,
    series: HashSet<String>,
}

impl Families {
    /// Starts without families; all samples get these labels.
    pub fn with_labels(common: Vec<Label>) -> Self {
        Families {
            common,
            ..Families::default()
        }
    }

    /// A gauge without labels of its own.
    pub fn one(&mut self, name: &str, help: &str, value: Option<f64>) {
        self.add(name, help, value.map(|value| (Vec::new(), value)));
    }

    /// A gauge with one sample per set of labels; omitted without samples.
    pub fn add(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Vec<Label>, f64)>,
    ) {
        let given = samples.into_iter();
        let mut samples = given.filter(|(_, value)| value.is_finite()).peekable();
        if samples.peek().is_none() {
            return;
        }
        let _ = write!(
            self.text,
            "{MARK}{name} {help}\n# TYPE slotscope_{name} gauge\n"
        );
        for (labels, value) in samples {
            let each = self.common.iter().chain(&labels);
            let pairs: Vec<String> = each.map(spelled).collect();
            let labels = if pairs.is_empty() {
                String::new()
            } else {
                format!("{{{}}}", pairs.join(","))
            };
            let series = format!("slotscope_{name}{labels}");
            if self.series.insert(series.clone()) {
                let _ = writeln!(self.text, "{series} {value}");
            }
        }
    }

    /// The number of samples.
    pub fn series(&self) -> usize {
        self.series.len()
    }

    /// The page.
    pub fn finish(self) -> String {
        self.text
    }
}

/// A label with its value in quotes; the spelling of a name has no control characters.
fn spelled((name, value): &Label) -> String {
    let cut = truncated(&value.to_string(), LABEL);
    let value = cut.replace('\\', r"\\").replace('"', "\\\"");
    format!("{name}=\"{value}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_help_a_type_and_escaped_labels_and_the_page_an_end() {
        let mut families = Families::with_labels(vec![("cluster", Name::from("a\"b"))]);
        families.one("up_ratio", "Whether it is up.", Some(1.0));
        families.one("none_bytes", "Never.", None);
        families.one("odd_bytes", "Never.", Some(f64::NAN));
        families.add(
            "keys",
            "Keys.",
            [2.5, 7.0].map(|value| (vec![("node", Name::from("h\\1\n\u{1b}"))], value)),
        );
        assert_eq!(families.series(), 2);
        let expected = "# HELP slotscope_up_ratio Whether it is up.\n# TYPE slotscope_up_ratio gauge\n\
            slotscope_up_ratio{cluster=\"a\\\"b\"} 1\n# HELP slotscope_keys Keys.\n# TYPE slotscope_keys gauge\n\
            slotscope_keys{cluster=\"a\\\"b\",node=\"h\\\\\\\\1\\\\n\\\\x1b\"} 2.5\n# EOF\n";
        assert_eq!(families.finish() + END, expected);
    }
}
