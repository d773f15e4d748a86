//! Metric families in the text format of OpenMetrics: a name has one unit and one type, and the page has an end.

use std::collections::HashSet;
use std::fmt::Write;

use slotscope_engine::name::{Name, truncated};

/// The content type of a page.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Characters of a label.
const LABEL: usize = 200;

/// Families, one after the other; each sample has the label `cluster`. A series is written once: a second one is not valid,
/// and readers keep either.
pub(crate) struct Families {
    cluster: String,
    text: String,
    series: HashSet<String>,
}

impl Families {
    /// No family yet, of the cluster of this name.
    pub(crate) fn new(cluster: &str) -> Self {
        Families {
            cluster: label(&Name::from(cluster)),
            text: String::new(),
            series: HashSet::new(),
        }
    }

    /// A gauge without other labels.
    pub(crate) fn one(&mut self, name: &str, help: &str, value: Option<f64>) {
        self.add(name, help, value.map(|value| (Vec::new(), value)));
    }

    /// A gauge with a sample for each set of labels; nothing where there are none.
    pub(crate) fn add(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Vec<(&'static str, Name)>, f64)>,
    ) {
        let mut samples = samples
            .into_iter()
            .filter(|(_, value)| value.is_finite())
            .peekable();
        if samples.peek().is_none() {
            return;
        }
        let _ = write!(
            self.text,
            "# HELP slotscope_{name} {help}\n# TYPE slotscope_{name} gauge\n"
        );
        for (labels, value) in samples {
            let mut all = format!("cluster=\"{}\"", self.cluster);
            for (name, of) in labels {
                let _ = write!(all, ",{name}=\"{}\"", label(&of));
            }
            let series = format!("slotscope_{name}{{{all}}}");
            if !self.series.contains(&series) {
                let _ = writeln!(self.text, "{series} {value}");
                self.series.insert(series);
            }
        }
    }

    /// How many samples there are.
    #[cfg(test)]
    pub(crate) fn series(&self) -> usize {
        self.series.len()
    }

    /// The page.
    pub(crate) fn finish(self) -> String {
        self.text + "# EOF\n"
    }
}

/// The value of a label: the spelling of a name, which has no controls, as OpenMetrics quotes it.
fn label(name: &Name) -> String {
    let spelled = truncated(&name.to_string(), LABEL);
    spelled.replace('\\', r"\\").replace('"', "\\\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_family_has_help_a_type_and_escaped_labels_and_the_page_an_end() {
        let mut families = Families::new("a\"b");
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
        assert_eq!(families.finish(), expected);
    }
}
