//! Metric families in the text format of OpenMetrics: a name has one unit and one type, and the page has an end.

use std::fmt::Write;

/// The content type of a page.
pub(crate) const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Families, one after the other; each sample has the label `cluster`.
pub(crate) struct Families {
    cluster: String,
    text: String,
    series: usize,
}

impl Families {
    /// No family yet, of the cluster of this name.
    pub(crate) fn new(cluster: &str) -> Self {
        Families {
            cluster: escaped(cluster),
            text: String::new(),
            series: 0,
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
        samples: impl IntoIterator<Item = (Vec<(&'static str, String)>, f64)>,
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
            for (label, of) in labels {
                let _ = write!(all, ",{label}=\"{}\"", escaped(&of));
            }
            let _ = writeln!(self.text, "slotscope_{name}{{{all}}} {value}");
            self.series += 1;
        }
    }

    /// How many samples there are.
    #[cfg(test)]
    pub(crate) fn series(&self) -> usize {
        self.series
    }

    /// The page.
    pub(crate) fn finish(self) -> String {
        self.text + "# EOF\n"
    }
}

/// The value of a label.
fn escaped(text: &str) -> String {
    text.replace('\\', r"\\")
        .replace('"', "\\\"")
        .replace('\n', r"\n")
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
            [(vec![("node", "h\\1\n".to_owned())], 2.5)],
        );
        assert_eq!(families.series(), 2);
        let expected = "# HELP slotscope_up_ratio Whether it is up.\n# TYPE slotscope_up_ratio gauge\n\
            slotscope_up_ratio{cluster=\"a\\\"b\"} 1\n# HELP slotscope_keys Keys.\n# TYPE slotscope_keys gauge\n\
            slotscope_keys{cluster=\"a\\\"b\",node=\"h\\\\1\\n\"} 2.5\n# EOF\n";
        assert_eq!(families.finish(), expected);
    }
}
