//! Arrow arrays in PyCapsules, as polars, pandas, pyarrow and DuckDB exchange them without a copy.

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

/// Takes the structure out of the capsule `object`, in which `empty` stays.
fn taken<T>(object: &Bound<'_, PyAny>, name: &'static CStr, empty: T) -> PyResult<T> {
    let capsule = object.cast::<PyCapsule>()?;
    let held = capsule.pointer_checked(Some(name))?.cast::<T>();
    // SAFETY: a capsule of this name holds this structure, and the GIL is held, so nothing else uses it meanwhile.
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

/// A stream of one table, for `__arrow_c_stream__`.
pub(crate) fn stream<'py>(py: Python<'py>, table: &RecordBatch) -> PyResult<Bound<'py, PyCapsule>> {
    let batches = RecordBatchIterator::new([Ok(table.clone())], table.schema());
    let stream = FFI_ArrowArrayStream::new(Box::new(batches));
    PyCapsule::new_with_value(py, stream, STREAM)
}

/// Keys of an array. Offsets and views are not trusted: each key is looked up within its buffer.
pub(crate) enum KeyArray {
    /// One buffer, and offsets of 4 bytes.
    Offsets32(BinaryArray),
    /// One buffer, and offsets of 8 bytes.
    Offsets64(LargeBinaryArray),
    /// Views of 16 bytes, which hold a short key or the place of a long one.
    Views(BinaryViewArray),
}

/// Checks that arrays of this type, or tables with it as their only column, are keys.
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

/// The type that a schema describes, which is checked.
fn key_type(schema: &FFI_ArrowSchema) -> PyResult<DataType> {
    let data_type = DataType::try_from(schema);
    let data_type = data_type
        .map_err(|error| bad("keys", format!("an Arrow array without a type: {error}")))?;
    check_type(&data_type)?;
    Ok(data_type)
}

/// Whether an array has sizes that can be added up, the buffers of keys, and a column as long as its table.
fn is_whole(array: &FFI_ArrowArray, is_table: bool) -> bool {
    // Negative sizes are huge here.
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
    /// The keys of `array`, which has the checked type `data_type`.
    fn new(array: FFI_ArrowArray, data_type: DataType) -> PyResult<Self> {
        let malformed = || bad("keys", "a malformed Arrow array; build it anew");
        if !is_whole(&array, matches!(data_type, DataType::Struct(_))) {
            return Err(malformed());
        }
        // SAFETY: the producer vouches for the lengths of buffers, which the interface does not carry.
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

    /// How many keys there are.
    pub(crate) fn len(&self) -> usize {
        match self {
            KeyArray::Offsets32(keys) => keys.len(),
            KeyArray::Offsets64(keys) => keys.len(),
            KeyArray::Views(keys) => keys.len(),
        }
    }

    /// The buffer that has all keys one after the other; `None` where they are in several.
    pub(crate) fn one_buffer(&self) -> Option<&[u8]> {
        match self {
            KeyArray::Offsets32(keys) => Some(keys.value_data()),
            KeyArray::Offsets64(keys) => Some(keys.value_data()),
            KeyArray::Views(_) => None,
        }
    }

    /// Where keys `range` start in `one_buffer` and where the last of them ends, counted from where the first starts, into
    /// `spans`; and that place. `None` where offsets fall or are 2 GiB apart.
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

/// An offset; a negative one lies past the end of every buffer.
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
    // All pairs, not up to the first wrong one: so it is vectorised.
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

/// Arrays of keys that come one after the other, until there are no more.
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
        // SAFETY: the callback of this stream, which is not released.
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
        // SAFETY: as above.
        let code = unsafe { get(&mut self.stream, &mut array) };
        check(&mut self.stream, code)?;
        if array.is_released() {
            return Ok(None); // the end of the stream
        }
        KeyArray::new(array, self.data_type.clone()).map(Some)
    }
}

/// The error of a call on `stream` that returned `code`.
fn check(stream: &mut FFI_ArrowArrayStream, code: c_int) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: the callback of this stream, right after a call that failed.
    let message = stream.get_last_error().map(|get| unsafe { get(stream) });
    Err(match message.filter(|message| !message.is_null()) {
        // SAFETY: a C string until the next call.
        Some(message) => bad("keys", unsafe { CStr::from_ptr(message) }.to_string_lossy()),
        None => bad("keys", format!("the Arrow stream failed with code {code}")),
    })
}

/// An object that offers Arrow arrays.
pub(crate) enum Offered {
    /// Arrays that are all there.
    Arrays(Arc<[KeyArray]>),
    /// A stream that can be read once.
    Stream(KeyStream),
}

/// The keys that `object` offers as Arrow arrays; `None` where it offers none.
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
    // An object with a length is in memory already; any other may be longer than memory.
    if !object.hasattr("__len__")? {
        return Ok(Some(Offered::Stream(stream)));
    }
    let mut arrays = Vec::new();
    while let Some(array) = stream.next()? {
        arrays.push(array);
    }
    Ok(Some(Offered::Arrays(arrays.into())))
}
