//! Keys in Python: bytes, or str, which is hashed as UTF-8.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::error::bad;

/// Why a key that is not there is refused.
pub(crate) const NULL: &str = "is null; drop what is no key first";

/// The bytes of `key`, the `i`-th.
pub(crate) fn bytes_of<'a>(key: &'a Bound<'_, PyAny>, i: usize) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = key.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    let Ok(text) = key.cast::<PyString>() else {
        if is_null(key) {
            return Err(bad(format!("key {i}"), NULL));
        }
        let kind = key.get_type().name()?;
        let message = format!("key {i} is {kind}; keys are bytes or str");
        return Err(PyTypeError::new_err(message));
    };
    match text.to_cow() {
        Ok(Cow::Borrowed(text)) => Ok(Cow::Borrowed(text.as_bytes())),
        Ok(Cow::Owned(text)) => Ok(Cow::Owned(text.into_bytes())),
        Err(_) => Err(bad(
            format!("key {i}"),
            "text with lone surrogates has no bytes; give the key as bytes",
        )),
    }
}

/// Whether `value` stands for one that is not there, in Python, in NumPy or in pandas.
pub(crate) fn is_null(value: &Bound<'_, PyAny>) -> bool {
    let is_missing = || {
        let kind = value.get_type().name();
        kind.is_ok_and(|kind| kind == "NAType" || kind == "NaTType")
    };
    value.is_none() || value.extract::<f64>().is_ok_and(f64::is_nan) || is_missing()
}
