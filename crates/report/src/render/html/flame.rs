//! Flame graphs on the page, as SVG. Boxes are nested `svg` elements, which clip their text and scale to any width
//! without a script, unlike usual flame graphs.

use askama::Template;

use crate::view::Flame;
use crate::view::flame::Frame;

/// Pixels of a row.
const ROW: usize = 22;
/// Boxes with a smaller share have no text, nor, on a narrow screen, those below the second value.
const LABELLED: f64 = 0.025;
const ROOMY: f64 = 0.1;

/// A graph on the page.
#[derive(Template)]
#[template(path = "flame.html", config = "src/render/html/askama.toml")]
pub(super) struct Figure {
    heading: String,
    narrow: usize,
    height: usize,
    boxes: Vec<FrameBox>,
}

struct FrameBox {
    x: String,
    y: usize,
    width: String,
    class: &'static str,
    title: String,
    label: Option<String>,
    is_roomy: bool,
}

impl Figure {
    /// The graph for the page.
    pub(super) fn new(flame: &Flame) -> Self {
        Figure {
            heading: flame.heading(),
            narrow: flame.narrow,
            height: flame.rows() * ROW,
            boxes: flame.frames.iter().map(FrameBox::new).collect(),
        }
    }
}

impl FrameBox {
    fn new(frame: &Frame) -> Self {
        let class = match frame.depth {
            _ if frame.is_pattern => "pattern",
            depth if depth % 2 == 0 => "prefix even",
            _ => "prefix",
        };
        FrameBox {
            x: percent(frame.from),
            y: frame.depth * ROW,
            width: percent(frame.share),
            class,
            title: in_xml(&frame.title),
            label: (frame.share >= LABELLED).then(|| in_xml(&frame.label)),
            is_roomy: frame.share >= ROOMY,
        }
    }
}

/// A share as a percentage attribute.
fn percent(share: f64) -> String {
    format!("{:.2}%", 100.0 * share)
}

/// `text` without the two characters that are invalid in XML and not escaped in names.
fn in_xml(text: &str) -> String {
    text.replace(['\u{FFFE}', '\u{FFFF}'], "\u{FFFD}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use slotscope_engine::metric::Metric;

    fn hostile() -> Flame {
        let frame = |depth, text: &str| Frame {
            depth,
            from: 0.0,
            share: 1.0,
            label: String::from(text),
            title: String::from(text),
            is_pattern: depth == 2,
        };
        Flame {
            metric: Metric::Bytes,
            total: 10,
            frames: vec![
                frame(0, "all"),
                frame(1, "</svg><script>"),
                frame(2, "&\"'\u{FFFF}"),
            ],
            narrow: 3,
        }
    }

    #[test]
    fn no_name_is_markup() {
        let page = Figure::new(&hostile()).render().unwrap();
        assert!(
            page.contains("<title>&#60;/svg&#62;&#60;script&#62;</title>"),
            "{page}"
        );
        assert!(page.contains(">&#38;&#34;&#39;\u{FFFD}</text>"), "{page}");
        assert!(
            !page.contains("<script") && !page.contains(" style="),
            "{page}"
        );
        assert!(page.contains("3 too narrow to draw"), "{page}");
    }

    #[test]
    fn text_is_in_boxes_that_have_room_for_it() {
        let mut flame = hostile();
        flame.frames[1].share = LABELLED;
        flame.frames[2].share = LABELLED / 2.0;
        let page = Figure::new(&flame).render().unwrap();
        assert_eq!(page.matches("<text").count(), 2);
        assert_eq!(page.matches("class=\"tight\"").count(), 1);
        assert_eq!(page.matches("<title>").count(), 3);
    }
}
