//! Risks as a list: severity, sentence, node.

use askama::{Result, Template};

use slotscope_model::Summary;
use slotscope_model::finding::Finding;
use slotscope_model::state::Severity;

use crate::render::html::spell;
use crate::view::verdict::shown_risks;

#[derive(Template)]
#[template(path = "risks.html", config = "src/render/html/askama.toml")]
struct Risks {
    risks: Vec<Risk>,
    hidden: usize,
}

/// A risk.
struct Risk {
    class: &'static str,
    urgency: &'static str,
    sentence: String,
    /// Its node; empty if the sentence names it, or if there is none.
    node: String,
}

/// The risks of `summary` as HTML.
pub(super) fn render(summary: &Summary) -> Result<String> {
    let (risks, hidden) = shown_risks(summary);
    Risks {
        risks: risks.into_iter().map(|risk| of(summary, risk)).collect(),
        hidden,
    }
    .render()
}

fn of(summary: &Summary, risk: &Finding) -> Risk {
    let (class, urgency) = match risk.severity {
        Severity::Critical => ("alarm", "critical"),
        Severity::Warning => ("watch", "warning"),
        Severity::Notice => ("plain", "notice"),
    };
    let sentence = spell::sentence(&risk.sentence);
    let listed = risk.node.as_ref().and_then(|id| summary.nodes.get(id));
    let node = listed.map(spell::node).unwrap_or_default();
    Risk {
        class,
        urgency,
        node: if sentence.contains(&node) {
            String::new()
        } else {
            node
        },
        sentence,
    }
}
