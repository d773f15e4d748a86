//! Keys in Python: bytes, or str, which is hashed as UTF-8.

use std::borrow::Cow;

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};

use crate::error::bad;

/// The bytes of `key`, which is number `i`.
pub(crate) fn bytes_of<'a>(key: &'a Bound<'_, PyAny>, i: usize) -> PyResult<Cow<'a, [u8]>> {
    if let Ok(bytes) = key.cast::<PyBytes>() {
        return Ok(Cow::Borrowed(bytes.as_bytes()));
    }
    let Ok(text) = key.cast::<PyString>() else {
        let kind = key.get_type().name()?;
        let what = format!("key {i} is {kind}; keys are bytes or str");
        return Err(PyTypeError::new_err(what));
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
