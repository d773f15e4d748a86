//! The one exception, and how errors of the library become it.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    slotscope,
    Error,
    PyValueError,
    "An input, an option or a file that cannot be used: the line that the program would print."
);

/// The exception of an error of the library.
pub fn raised(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// `place: what`, as the library words it.
pub fn bad(place: impl Into<String>, what: impl Into<String>) -> PyErr {
    let what: String = what.into();
    raised(slotscope::Error::bad(place, what))
}
