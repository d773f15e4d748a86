//! The canvas of slotscope's charts: a white sheet of pixels. Only this crate knows plotters.

mod canvas;
pub mod font;

pub use canvas::{Anchor, Canvas, overlap, png, spread, text_box};

/// A colour: red, green and blue.
pub type Rgb = [u8; 3];
