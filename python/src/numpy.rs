//! NumPy arrays of fixed-length bytes (`dtype='S16'`), read in place, without a dependency on NumPy.

use std::slice;

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyDictMethods};

/// An array of byte strings of one length; shorter ones are padded with zeros, which are not part of them.
pub(crate) struct FixedKeys {
    /// Keeps the bytes alive.
    _array: Py<PyAny>,
    data: *const u8,
    len: usize,
    width: usize,
    stride: isize,
}

// SAFETY: the bytes are only read, and their array is kept alive.
unsafe impl Send for FixedKeys {}
// SAFETY: as for `Send`.
unsafe impl Sync for FixedKeys {}

/// `object` as a one-dimensional array of fixed-width keys; `None` if it is something else.
pub(crate) fn fixed(object: &Bound<'_, PyAny>) -> PyResult<Option<FixedKeys>> {
    let Ok(interface) = object.getattr("__array_interface__") else {
        return Ok(None);
    };
    let interface = interface.cast::<PyDict>()?;
    let get = |name: &str| interface.get_item(name);
    let (Some(kind), Some(shape), Some(data)) = (get("typestr")?, get("shape")?, get("data")?)
    else {
        return Ok(None);
    };
    let kind: String = kind.extract()?;
    let Some(width) = kind.strip_prefix("|S").and_then(|width| width.parse().ok()) else {
        return Ok(None);
    };
    let Ok((len,)) = shape.extract::<(usize,)>() else {
        return Ok(None);
    };
    let strides = get("strides")?.filter(|strides| !strides.is_none());
    let (stride,) = match strides {
        Some(strides) => strides.extract::<(isize,)>()?,
        None => (width as isize,),
    };
    let (data, _): (usize, bool) = data.extract()?;
    Ok(Some(FixedKeys {
        _array: object.clone().unbind(),
        data: data as *const u8,
        len,
        width,
        stride,
    }))
}

impl FixedKeys {
    /// The keys.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u8]> {
        (0..self.len).map(|i| {
            // SAFETY: by the buffer protocol, element `i` has `width` bytes.
            let bytes = unsafe {
                slice::from_raw_parts(self.data.offset(self.stride * i as isize), self.width)
            };
            let end = bytes.iter().rposition(|byte| *byte != 0);
            &bytes[..end.map_or(0, |last| last + 1)]
        })
    }
}
