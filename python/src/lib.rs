//! slotscope as a Python module: a thin layer over the library. `slotscope/__init__.py` has what users import;
//! options reach this module as the words of a command line, so there is one list of them.

mod amounts;
mod arrow;
mod capacity;
mod commands;
mod error;
mod inputs;
mod keys;
mod numpy;
mod parts;
mod report;
mod rows;
mod slots;
mod table;
mod work;

use pyo3::prelude::*;

/// The native part of slotscope.
#[pymodule]
mod _native {
    use pyo3::prelude::*;
    use pyo3::types::{PyBytes, PyString};

    #[pymodule_export]
    use crate::capacity::{Capacity, capacity};
    #[pymodule_export]
    use crate::commands::{analyze, diff, findings, load, main};
    #[pymodule_export]
    use crate::error::Error;
    use crate::keys::bytes_of;
    #[pymodule_export]
    use crate::parts::{merge, needs_recount, plan_splits, recount, report_from_parts, tally};
    #[pymodule_export]
    use crate::report::{Page, Report};
    #[pymodule_export]
    use crate::slots::Slots;
    #[pymodule_export]
    use crate::table::Table;

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");

    /// The hash slot of a key (bytes, or str as UTF-8), 0 to 16383, as CLUSTER KEYSLOT of a server answers.
    #[pyfunction]
    #[pyo3(signature = (key, /))]
    fn slot(key: &Bound<'_, PyAny>) -> PyResult<u16> {
        Ok(hashslot::slot(&bytes_of(key, 0)?))
    }

    /// The hash slots of many keys, as `Slots` of the same length and order.
    ///
    /// `keys` is an Arrow array or stream of text or binary (pyarrow, polars, DuckDB ...), a NumPy array of dtype S, or any
    /// iterable of bytes or str. The first two are read where they lie.
    ///
    /// Raises Error where a key is null or text without an encoding, TypeError where it is neither bytes nor str.
    #[pyfunction]
    #[pyo3(signature = (keys, /))]
    fn slots(py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<Slots> {
        crate::slots::of(py, keys)
    }

    /// The hash tag of a key, the part in braces that is hashed in place of the key, in the type of the key; None where
    /// it has no tag.
    #[pyfunction]
    #[pyo3(signature = (key, /))]
    fn tag<'py>(key: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let bytes = bytes_of(key, 0)?;
        let Some(tag) = hashslot::tag(&bytes) else {
            return Ok(None);
        };
        let tag = PyBytes::new(key.py(), &bytes[tag]).into_any();
        if key.is_instance_of::<PyString>() {
            Ok(Some(tag.call_method1("decode", ("utf-8",))?))
        } else {
            Ok(Some(tag))
        }
    }
}
