//! Slots of many keys, in any kind of memory layout.

use std::borrow::Cow;
use std::ops::Range;

use arrow_array::UInt16Array;
use hashslot::{Batch, PAD, Padded};
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict, PyIterator, PyList, PySlice};

use crate::arrow::{self, KeyArray, Offered, offered};
use crate::error::bad;
use crate::keys::bytes_of;
use crate::numpy;

/// Keys hashed together: their spans stay in the L1 cache.
const BATCH: usize = 1024;

/// Ctrl-C takes effect after at most this many keys.
const EVERY: usize = 1 << 20;

/// Hash slots, one for each key, as unsigned 16-bit numbers.
///
/// A sequence of int that NumPy (`numpy.asarray(slots)`) and every reader of Arrow arrays (`polars.Series(slots)`,
/// `pyarrow.array(slots)`) uses without a copy. It cannot be changed.
#[pyclass(module = "slotscope", frozen, sequence)]
pub struct Slots {
    slots: UInt16Array,
}

impl Slots {
    fn new(slots: Vec<u16>) -> Self {
        Slots {
            slots: slots.into(),
        }
    }

    fn values(&self) -> &[u16] {
        self.slots.values()
    }
}

/// One key, or several.
#[derive(FromPyObject)]
enum Index<'py> {
    One(isize),
    Several(Bound<'py, PySlice>),
}

#[pymethods]
impl Slots {
    fn __len__(&self) -> usize {
        self.slots.len()
    }

    fn __getitem__<'py>(&self, py: Python<'py>, index: Index<'py>) -> PyResult<Bound<'py, PyAny>> {
        let slots = self.values();
        let index = match index {
            Index::One(index) => index,
            // Lists know all the rules of slices.
            Index::Several(range) => {
                let several: Vec<u16> = self.tolist(py)?.as_any().get_item(range)?.extract()?;
                return Ok(Bound::new(py, Slots::new(several))?.into_any());
            }
        };
        let at = if index < 0 {
            index + slots.len() as isize
        } else {
            index
        };
        let held = usize::try_from(at).ok().and_then(|at| slots.get(at));
        let slot = held.ok_or_else(|| PyIndexError::new_err("no such key"))?;
        Ok(slot.into_pyobject(py)?.into_any())
    }

    /// Iterators make it a column to pandas, which takes it for a single value otherwise.
    fn __iter__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyIterator>> {
        self.tolist(py)?.try_iter()
    }

    /// The slots as a list of int.
    fn tolist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        PyList::new(py, self.values())
    }

    fn __repr__(&self) -> String {
        let slots = self.values();
        let first: Vec<_> = slots.iter().take(6).map(u16::to_string).collect();
        let rest = if slots.len() > 6 { ", ..." } else { "" };
        format!(
            "<slotscope.Slots of {} keys: {}{rest}>",
            slots.len(),
            first.join(", ")
        )
    }

    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let slots = self.values();
        let interface = PyDict::new(py);
        interface.set_item("version", 3)?;
        interface.set_item("shape", (slots.len(),))?;
        let order = if cfg!(target_endian = "big") {
            ">u2"
        } else {
            "<u2"
        };
        interface.set_item("typestr", order)?;
        interface.set_item("data", (slots.as_ptr() as usize, true))?;
        Ok(interface)
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // A requested type is only a wish, which the interface allows producers to ignore.
        drop(requested_schema);
        arrow::column(py, "slot", &self.slots)
    }
}

/// The slots of `keys`.
pub(crate) fn of(py: Python<'_>, keys: &Bound<'_, PyAny>) -> PyResult<Slots> {
    let mut slots = Vec::new();
    match (offered(keys, "keys")?, numpy::fixed(keys)?) {
        (Some(Offered::Arrays(arrays)), _) => {
            py.detach(|| {
                arrays
                    .iter()
                    .try_for_each(|array| of_array(array, &mut slots))
            })?;
        }
        (Some(Offered::Stream(mut stream)), _) => py.detach(|| {
            while let Some(array) = stream.next()? {
                of_array(&array, &mut slots)?;
            }
            Ok::<(), PyErr>(())
        })?,
        (None, Some(array)) => py.detach(|| of_all(array.iter(), &mut slots)),
        (None, None) => of_objects(keys, &mut slots)?,
    }
    Ok(Slots::new(slots))
}

/// Adds the slots of an array; keys are hashed in place, except the few at both ends of its buffer.
fn of_array(array: &KeyArray, slots: &mut Vec<u16>) -> PyResult<()> {
    let mut spans = Spans::default();
    let whole = array.one_buffer();
    slots.reserve(array.len());
    for from in (0..array.len()).step_by(BATCH) {
        let to = array.len().min(from + BATCH);
        let is_padded = whole.is_some_and(|whole| spans.find(array, whole, from..to));
        if let (Some(whole), true) = (whole, is_padded) {
            spans.hash(whole, slots);
            continue;
        }
        let keys: Vec<&[u8]> = (from..to).map(|i| array.get(i)).collect::<PyResult<_>>()?;
        of_slices(&keys, slots);
    }
    Ok(())
}

/// Keys that are contiguous in a part of a buffer.
#[derive(Default)]
struct Spans {
    /// Start and end of the part.
    part: (usize, usize),
    /// Start of each key relative to the part, and the end of the last.
    borders: Vec<u32>,
    hashed: (Vec<u32>, Vec<u32>),
}

impl Spans {
    /// Locates keys `range` of `array`; false if they have no padding in `whole`, or are not contiguous.
    fn find(&mut self, array: &KeyArray, whole: &[u8], range: Range<usize>) -> bool {
        let Some(first) = array.spans(range, &mut self.borders) else {
            return false;
        };
        let last = first + self.borders.last().map_or(0, |end| *end as usize);
        self.part = (first, last);
        first >= PAD && last + PAD <= whole.len()
    }

    fn hash(&mut self, whole: &[u8], slots: &mut Vec<u16>) {
        let (kernel, (first, last)) = (hashslot::best(), self.part);
        let part = Padded::new(&whole[first - PAD..last + PAD]);
        let count = self.borders.len() - 1;
        let keys = Batch::new(part, &self.borders[..count], &self.borders[1..]);
        let (start, end) = &mut self.hashed;
        start.resize(count, 0);
        end.resize(count, 0);
        kernel.hashed_spans(keys, start, end);
        let known = slots.len();
        slots.resize(known + count, 0);
        kernel.slots(keys.with_spans(start, end), &mut slots[known..]);
    }
}

fn of_slices(keys: &[&[u8]], slots: &mut Vec<u16>) {
    let known = slots.len();
    slots.resize(known + keys.len(), 0);
    hashslot::slots(keys, &mut slots[known..]);
}

fn of_all<'a>(keys: impl Iterator<Item = &'a [u8]>, slots: &mut Vec<u16>) {
    let mut batch = Vec::with_capacity(BATCH);
    for key in keys {
        batch.push(key);
        if batch.len() == BATCH {
            of_slices(&batch, slots);
            batch.clear();
        }
    }
    of_slices(&batch, slots);
}

/// Adds the slots of the keys in a list or any other iterable.
fn of_objects(keys: &Bound<'_, PyAny>, slots: &mut Vec<u16>) -> PyResult<()> {
    if keys.is_instance_of::<pyo3::types::PyBytes>()
        || keys.is_instance_of::<pyo3::types::PyString>()
    {
        return Err(bad("keys", "one key, not several; slot(key) has its slot"));
    }
    let mut objects = keys.try_iter()?;
    let mut batch: Vec<Bound<'_, PyAny>> = Vec::with_capacity(BATCH);
    loop {
        batch.clear();
        for object in objects.by_ref().take(BATCH) {
            batch.push(object?);
        }
        if batch.is_empty() {
            return Ok(());
        }
        let known = slots.len();
        let numbered = batch.iter().enumerate();
        let bytes: Vec<Cow<'_, [u8]>> = numbered
            .map(|(i, key)| bytes_of(key, known + i))
            .collect::<PyResult<_>>()?;
        let keys: Vec<&[u8]> = bytes.iter().map(AsRef::as_ref).collect();
        of_slices(&keys, slots);
        if known.is_multiple_of(EVERY) {
            objects.py().check_signals()?;
        }
    }
}
