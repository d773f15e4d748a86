//! The canvas for slotscope's charts: a white area of pixels. Only this crate uses plotters.

mod canvas;
pub mod font;

pub use canvas::{Anchor, Canvas, overlap, png, text_box};

/// A colour as red, green and blue.
pub type Rgb = [u8; 3];
