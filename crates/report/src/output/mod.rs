//! Output files: all are opened before the work and put in place together afterwards, so that a bad path fails early
//! and an interrupted run leaves nothing half-written. Foreign files are not replaced.

mod csv_rows;
mod directory;
mod guard;
mod set;
mod staging;
mod whole;

pub use csv_rows::{CsvRows, spelled};
pub use directory::SingleFile;
pub use guard::{Guard, Mark};
pub use set::{OpenSet, OutputSet};
pub use staging::{Written, abandon};
pub use whole::{Replaces, WholeDirectory};
