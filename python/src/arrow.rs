//! Arrow arrays in PyCapsules, which polars, pandas, pyarrow and DuckDB exchange without copying.

use std::ffi::{CStr, c_int};
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, OffsetSizeTrait, RecordBatch,
    RecordBatchIterator, make_array,
};
use arrow_data::ByteView;
use arrow_schema::{DataType, Field};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::error::{bad, raised};

const SCHEMA: &CStr = c"arrow_schema";
const ARRAY: &CStr = c"arrow_array";
const STREAM: &CStr = c"arrow_array_stream";

/// Moves the structure out of the capsule `object`, leaving `empty` in it.
fn taken<T>(object: &Bound<'_, PyAny>, name: &'static CStr, empty: T) -> PyResult<T> {
    let capsule = object.cast::<PyCapsule>()?;
    let held = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: a capsule of this name holds this structure, and holding the GIL rules out concurrent use.
    Ok(unsafe { ptr::replace(held.as_ptr(), empty) })
}

/// The schema and the array of a column, for `__arrow_c_array__`.
pub(crate) fn column<'py>(
    py: Python<'py>,
    name: &str,
    values: &dyn Array,
) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
    let field = Field::new(name, values.data_type().clone(), true);
    let schema = FFI_ArrowSchema::try_from(&field).map_err(raised)?;
    let (array, _) = to_ffi(&values.to_data()).map_err(raised)?;
    let schema = PyCapsule::new_with_value(py, schema, SCHEMA)?;
    Ok((schema, PyCapsule::new_with_value(py, array, ARRAY)?))
}

/// The stream of a single table, for `__arrow_c_stream__`.
pub(crate) fn stream<'py>(py: Python<'py>, table: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = RecordBatchIterator::new([Ok(table.clone())], table.schema());
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// Keys in an Arrow array. Offsets and views are not trusted: each key is bounds-checked.
pub(crate) enum KeyArray {
    /// One buffer with 32-bit offsets.
    Offsets32(BinaryArray),
    /// One buffer with 64-bit offsets.
    Offsets64(LargeBinaryArray),
    /// 16-byte views, which contain a short key or refer to a long one.
    Views(BinaryViewArray),
}

/// Checks that arrays of this type, or tables with it as their only column, can be keys.
fn check_type(data_type: &DataType) -> PyResult<()> {
    match data_type {
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View => Ok(()),
        DataType::Binary | DataType::LargeBinary | DataType::BinaryView => Ok(()),
        DataType::Struct(fields) => match fields.as_ref() {
            [field] if !matches!(field.data_type(), DataType::Struct(_)) => {
                check_type(field.data_type())
            }
            [_] => Err(bad(
                "keys",
                "a table in a table; select the column with the keys",
            )),
            several => {
                let what = format!(
                    "a table of {} columns; select the one with the keys",
                    several.len()
                );
                Err(bad("keys", what))
            }
        },
        DataType::Dictionary(..) => {
            let what = "dictionary-encoded (categorical); cast them to text or binary";
            Err(bad("keys", what))
        }
        other => Err(bad(
            "keys",
            format!("Arrow type {other}; cast them to text or binary"),
        )),
    }
}

/// The checked type that a schema describes.
fn key_type(schema: &FFI_ArrowSchema) -> PyResult<DataType> {
    let data_type = DataType::try_from(schema);
    let data_type = data_type
        .map_err(|error| bad("keys", format!("an Arrow array without a type: {error}")))?;
    check_type(&data_type)?;
    Ok(data_type)
}

/// Whether an array has sizes that do not overflow, the buffers for keys, and a column as long as its table.
fn is_whole(array: &FFI_ArrowArray, is_table: bool) -> bool {
    // Negative sizes become huge.
    let end = |array: &FFI_ArrowArray| {
        let end = array.len().checked_add(array.offset());
        end.filter(|end| *end < isize::MAX as usize / size_of::<ByteView>())
    };
    if is_table {
        array.num_children() == 1
            && end(array).is_some_and(|end| end <= array.child(0).len())
            && is_whole(array.child(0), false)
    } else {
        end(array).is_some() && (2..1 << 32).contains(&array.num_buffers())
    }
}

impl KeyArray {
    /// The keys in `array`, whose type `data_type` was checked.
    fn new(array: FFI_ArrowArray, data_type: DataType) -> PyResult<Self> {
        let malformed = || bad("keys", "a malformed Arrow array; build it anew");
        if !is_whole(&array, matches!(data_type, DataType::Struct(_))) {
            return Err(malformed());
        }
        // SAFETY: the producer vouches for the lengths of buffers, which the interface does not convey.
        let data = unsafe { from_ffi_and_data_type(array, data_type) }.map_err(|_| malformed())?;
        let array = make_array(data);
        let array = array
            .as_struct_opt()
            .map_or(&array, |table| table.column(0));
        if let Some(i) = (0..array.len()).find(|i| array.null_count() > 0 && array.is_null(*i)) {
            return Err(bad(
                format!("key {i}"),
                "is null; drop what is no key first",
            ));
        }
        Self::of_column(array).ok_or_else(malformed)
    }

    fn of_column(array: &ArrayRef) -> Option<Self> {
        Some(match array.data_type() {
            DataType::Utf8 => KeyArray::Offsets32(array.as_string::<i32>().clone().into()),
            DataType::Binary => KeyArray::Offsets32(array.as_binary::<i32>().clone()),
            DataType::LargeUtf8 => KeyArray::Offsets64(array.as_string::<i64>().clone().into()),
            DataType::LargeBinary => KeyArray::Offsets64(array.as_binary::<i64>().clone()),
            DataType::Utf8View => KeyArray::Views(array.as_string_view().clone().to_binary_view()),
            DataType::BinaryView => KeyArray::Views(array.as_binary_view().clone()),
            _ => return None,
        })
    }

    /// Number of keys.
    pub(crate) fn len(&self) -> usize {
        match self {
            KeyArray::Offsets32(keys) => keys.len(),
            KeyArray::Offsets64(keys) => keys.len(),
            KeyArray::Views(keys) => keys.len(),
        }
    }

    /// The buffer with all keys, back to back; `None` if there are several.
    pub(crate) fn one_buffer(&self) -> Option<&[u8]> {
        match self {
            KeyArray::Offsets32(keys) => Some(keys.value_data()),
            KeyArray::Offsets64(keys) => Some(keys.value_data()),
            KeyArray::Views(_) => None,
        }
    }

    /// Writes the start of each key in `range`, and the end of the last, into `spans`, relative to the first key;
    /// returns the offset of that key in `one_buffer`. `None` if offsets decrease or span 2 GiB.
    pub(crate) fn spans(&self, range: Range<usize>, spans: &mut Vec<u32>) -> Option<usize> {
        match self {
            KeyArray::Offsets32(keys) => {
                from_first(&keys.value_offsets()[range.start..=range.end], spans)
            }
            KeyArray::Offsets64(keys) => {
                from_first(&keys.value_offsets()[range.start..=range.end], spans)
            }
            KeyArray::Views(_) => None,
        }
    }

    /// Key `i`.
    pub(crate) fn get(&self, i: usize) -> PyResult<&[u8]> {
        let key = match self {
            KeyArray::Offsets32(keys) => {
                between(keys.value_data(), &keys.value_offsets()[i..=i + 1])
            }
            KeyArray::Offsets64(keys) => {
                between(keys.value_data(), &keys.value_offsets()[i..=i + 1])
            }
            KeyArray::Views(keys) => viewed(keys, i),
        };
        key.ok_or_else(|| bad(format!("key {i}"), "lies outside of its Arrow array"))
    }
}

/// An offset; a negative one becomes larger than any buffer.
fn place<O: OffsetSizeTrait>(offset: O) -> usize {
    offset
        .to_isize()
        .map_or(usize::MAX, |offset| offset as usize)
}

fn between<'a, O: OffsetSizeTrait>(buffer: &'a [u8], ends: &[O]) -> Option<&'a [u8]> {
    buffer.get(place(ends[0])..place(ends[1]))
}

fn from_first<O: OffsetSizeTrait>(offsets: &[O], spans: &mut Vec<u32>) -> Option<usize> {
    let (first, last) = (place(*offsets.first()?), place(*offsets.last()?));
    if last.checked_sub(first)? > u32::MAX as usize / 2 {
        return None;
    }
    spans.clear();
    spans.extend(
        offsets
            .iter()
            .map(|offset| place(*offset).wrapping_sub(first) as u32),
    );
    // Checks all pairs without stopping at the first wrong one, so that the loop is vectorized.
    let pairs = spans.windows(2);
    pairs
        .fold(true, |so_far, pair| so_far & (pair[0] <= pair[1]))
        .then_some(first)
}

fn viewed(keys: &BinaryViewArray, i: usize) -> Option<&[u8]> {
    let view = ByteView::from(keys.views()[i]);
    let len = view.length as usize;
    if len <= 12 {
        let bytes: &[u8] = keys.views().inner();
        let start = 16 * i + 4;
        return bytes.get(start..start + len);
    }
    let buffer = keys.data_buffers().get(view.buffer_index as usize)?;
    let start = view.offset as usize;
    buffer.get(start..start.checked_add(len)?)
}

/// A stream of arrays of keys.
pub(crate) struct KeyStream {
    stream: FFI_ArrowArrayStream,
    data_type: DataType,
}

impl KeyStream {
    /// The keys of `stream`.
    fn new(mut stream: FFI_ArrowArrayStream) -> PyResult<Self> {
        let mut schema = FFI_ArrowSchema::empty();
        let get = stream
            .get_schema()
            .ok_or_else(|| bad("keys", "a released stream"))?;
        // SAFETY: a callback of this stream, which has not been released.
        let code = unsafe { get(&mut stream, &mut schema) };
        check(&mut stream, code)?;
        let data_type = key_type(&schema)?;
        Ok(KeyStream { stream, data_type })
    }

    /// The next array.
    pub(crate) fn next(&mut self) -> PyResult<Option<KeyArray>> {
        let Some(get) = self.stream.get_next() else {
            return Ok(None);
        };
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as in `new`.
        let code = unsafe { get(&mut self.stream, &mut array) };
        check(&mut self.stream, code)?;
        if array.is_released() {
            return Ok(None); // end of the stream
        }
        KeyArray::new(array, self.data_type.clone()).map(Some)
    }
}

/// The error of a call on `stream` that returned `code`.
fn check(stream: &mut FFI_ArrowArrayStream, code: c_int) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: a callback of this stream, right after a failed call.
    let message = stream.get_last_error().map(|get| unsafe { get(stream) });
    Err(match message.filter(|message| !message.is_null()) {
        // SAFETY: a C string, valid until the next call.
        Some(message) => bad("keys", unsafe { CStr::from_ptr(message) }.to_string_lossy()),
        None => bad("keys", format!("the Arrow stream failed with code {code}")),
    })
}

/// An object that offers Arrow arrays.
pub(crate) enum Offered {
    /// Arrays in memory.
    Arrays(Arc<[KeyArray]>),
    /// A stream that can be read once.
    Stream(KeyStream),
}

/// The keys that `object` offers as Arrow arrays; `None` if it offers none.
pub(crate) fn offered(object: &Bound<'_, PyAny>) -> PyResult<Option<Offered>> {
    if object.hasattr("__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            object.call_method0("__arrow_c_array__")?.extract()?;
        let data_type = key_type(&taken(&schema, SCHEMA, FFI_ArrowSchema::empty())?)?;
        let array = KeyArray::new(taken(&array, ARRAY, FFI_ArrowArray::empty())?, data_type)?;
        return Ok(Some(Offered::Arrays([array].into())));
    }
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let mut stream = KeyStream::new(taken(&capsule, STREAM, FFI_ArrowArrayStream::empty())?)?;
    // An object with a length is in memory already; any other may exceed memory.
    if !object.hasattr("__len__")? {
        return Ok(Some(Offered::Stream(stream)));
    }
    let mut arrays = Vec::new();
    while let Some(array) = stream.next()? {
        arrays.push(array);
    }
    Ok(Some(Offered::Arrays(arrays.into())))
}
