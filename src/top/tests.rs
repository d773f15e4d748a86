//! The screen, driven by keys and drawn into memory.
