//! The exception class, and the conversion of the library's errors.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

pyo3::create_exception!(
    slotscope,
    Error,
    PyValueError,
    "An input, an option or a file that cannot be used: the line that the program would print."
);

/// The exception for an error of the library.
pub(crate) fn raised(error: impl std::fmt::Display) -> PyErr {
    Error::new_err(error.to_string())
}

/// The same, naming options as Python arguments.
pub(crate) fn refused(error: slotscope::Error) -> PyErr {
    let text = error.to_string();
    let slotscope::Error::Option { name, .. } = error else {
        return raised(text);
    };
    let rest = text
        .trim_start_matches("--")
        .trim_start_matches(name.as_ref());
    raised(format!("{}={}", name.replace('-', "_"), rest.trim_start()))
}

/// `place: reason`, in the wording of the library.
pub(crate) fn bad(place: impl Into<String>, reason: impl Into<String>) -> PyErr {
    let reason: String = reason.into();
    raised(slotscope::Error::bad(place, reason))
}
