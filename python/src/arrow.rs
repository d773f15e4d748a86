//! Arrow arrays in PyCapsules, which polars, pandas, pyarrow and DuckDB exchange without copying.

use std::ffi::{CStr, c_int};
use std::marker::PhantomData;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema, from_ffi_and_data_type, to_ffi};
use arrow_array::ffi_stream::FFI_ArrowArrayStream;
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, NullArray, OffsetSizeTrait,
    RecordBatch, RecordBatchIterator, make_array,
};
use arrow_data::ByteView;
use arrow_schema::{DataType, Field};
use pyo3::exceptions::PyException;
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

use crate::error::{bad, raised};
use crate::keys::NULL;

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
    Ok((
        PyCapsule::new_with_value(py, schema, SCHEMA)?,
        PyCapsule::new_with_value(py, array, ARRAY)?,
    ))
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

/// What arrays hold, one value after the other.
pub(crate) trait Held: Sized {
    /// What arrays of other types are cast to.
    const CAST: &str;

    /// Whether arrays of this type hold it.
    fn is_in(data_type: &DataType) -> bool;

    /// The values of a column of such a type.
    fn of(column: &ArrayRef) -> PyResult<Self>;
}

/// Checks that arrays of this type, or tables with it as their only column, hold `T`.
fn check_type<T: Held>(data_type: &DataType) -> Result<(), String> {
    match data_type {
        known if T::is_in(known) => Ok(()),
        DataType::Struct(fields) => match fields.as_ref() {
            [field] if !matches!(field.data_type(), DataType::Struct(_)) => {
                check_type::<T>(field.data_type())
            }
            [_] => Err("a table in a table; select the column with the keys".into()),
            several => Err(format!(
                "a table of {} columns; select the one with the keys",
                several.len()
            )),
        },
        DataType::Dictionary(..) => Err(format!(
            "dictionary-encoded (categorical); cast them to {}",
            T::CAST
        )),
        unknown => Err(format!("Arrow type {unknown}; cast them to {}", T::CAST)),
    }
}

/// The type that a schema describes, which is checked.
fn type_of<T: Held>(schema: &FFI_ArrowSchema, place: &str) -> PyResult<DataType> {
    let parsed = DataType::try_from(schema);
    let data_type =
        parsed.map_err(|error| bad(place, format!("an Arrow array without a type: {error}")))?;
    check_type::<T>(&data_type).map_err(|reason| bad(place, reason))?;
    Ok(data_type)
}

/// Whether an array has sizes that can be added up, the buffers of keys, and a column as long as its table.
fn is_whole(array: &FFI_ArrowArray, data_type: &DataType) -> bool {
    // Negative sizes are huge here.
    let end = |array: &FFI_ArrowArray| {
        let end = array.len().checked_add(array.offset());
        end.filter(|end| *end < isize::MAX as usize / size_of::<ByteView>())
    };
    match data_type {
        DataType::Struct(fields) => {
            array.num_children() == 1
                && end(array).is_some_and(|end| end <= array.child(0).len())
                && is_whole(array.child(0), fields[0].data_type())
        }
        DataType::Null => end(array).is_some(),
        _ => end(array).is_some() && (2..1 << 32).contains(&array.num_buffers()),
    }
}

/// The column in `array`, which has the checked type `data_type`.
fn column_of(array: FFI_ArrowArray, data_type: DataType, place: &str) -> PyResult<ArrayRef> {
    let malformed = || bad(place, "a malformed Arrow array; build it anew");
    if !is_whole(&array, &data_type) {
        return Err(malformed());
    }
    if data_type == DataType::Null {
        return Ok(Arc::new(NullArray::new(array.len())));
    }
    // SAFETY: the producer vouches for the lengths of buffers, which the interface does not carry.
    let data = unsafe { from_ffi_and_data_type(array, data_type) }.map_err(|_| malformed())?;
    let array = make_array(data);
    let table = array.as_struct_opt();
    Ok(table.map_or(array.clone(), |table| table.column(0).clone()))
}

impl Held for KeyArray {
    const CAST: &str = "text or binary";

    fn is_in(data_type: &DataType) -> bool {
        use DataType::{Binary, BinaryView, LargeBinary, LargeUtf8, Utf8, Utf8View};
        matches!(
            data_type,
            Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView
        )
    }

    fn of(column: &ArrayRef) -> PyResult<Self> {
        let is_null = |i: &usize| column.null_count() > 0 && column.is_null(*i);
        if let Some(i) = (0..column.len()).find(is_null) {
            return Err(bad(format!("key {i}"), NULL));
        }
        KeyArray::of_column(column).ok_or_else(|| bad("keys", "no keys"))
    }
}

impl KeyArray {
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

/// Arrays that come one after the other, until there are no more.
pub(crate) struct Stream<T> {
    stream: FFI_ArrowArrayStream,
    data_type: DataType,
    /// What errors are about.
    place: String,
    held: PhantomData<fn() -> T>,
}

impl<T: Held> Stream<T> {
    fn new(mut stream: FFI_ArrowArrayStream, place: &str) -> PyResult<Self> {
        let mut schema = FFI_ArrowSchema::empty();
        let get = stream
            .get_schema()
            .ok_or_else(|| bad(place, "a released stream"))?;
        // SAFETY: the callback of this stream, which is not released.
        let code = unsafe { get(&mut stream, &mut schema) };
        check(&mut stream, code, place)?;
        Ok(Stream {
            stream,
            data_type: type_of::<T>(&schema, place)?,
            place: place.to_owned(),
            held: PhantomData,
        })
    }

    /// The next array.
    pub(crate) fn next(&mut self) -> PyResult<Option<T>> {
        let Some(get) = self.stream.get_next() else {
            return Ok(None);
        };
        let mut array = FFI_ArrowArray::empty();
        // SAFETY: as in `new`.
        let code = unsafe { get(&mut self.stream, &mut array) };
        check(&mut self.stream, code, &self.place)?;
        if array.is_released() {
            return Ok(None); // end of the stream
        }
        T::of(&column_of(array, self.data_type.clone(), &self.place)?).map(Some)
    }
}

/// The error of a call on `stream` that returned `code`.
fn check(stream: &mut FFI_ArrowArrayStream, code: c_int, place: &str) -> PyResult<()> {
    if code == 0 {
        return Ok(());
    }
    // SAFETY: a callback of this stream, right after a failed call.
    let message = stream.get_last_error().map(|get| unsafe { get(stream) });
    Err(match message.filter(|message| !message.is_null()) {
        // SAFETY: a C string until the next call.
        Some(message) => bad(place, unsafe { CStr::from_ptr(message) }.to_string_lossy()),
        None => bad(place, format!("the Arrow stream failed with code {code}")),
    })
}

/// An object that offers Arrow arrays.
pub(crate) enum Offered<T> {
    /// Arrays that are all there.
    Arrays(Vec<T>),
    /// A stream that can be read once.
    Stream(Stream<T>),
}

/// What `object` offers as Arrow arrays; `None` where it offers none. Errors are about `place`.
pub(crate) fn offered<T: Held>(
    object: &Bound<'_, PyAny>,
    place: &str,
) -> PyResult<Option<Offered<T>>> {
    // What pandas has in objects is an array only if pyarrow is there and finds a type for it; else it is iterated.
    let offer = |method| {
        if !object.hasattr(method)? {
            return Ok(None);
        }
        match object.call_method0(method) {
            Err(error) if error.is_instance_of::<PyException>(object.py()) => {
                object.try_iter().map_err(|_| error).map(|_| None)
            }
            offer => offer.map(Some),
        }
    };
    if let Some(offer) = offer("__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) = offer.extract()?;
        let schema = taken(&schema, SCHEMA, FFI_ArrowSchema::empty())?;
        let data_type = type_of::<T>(&schema, place)?;
        let moved = taken(&array, ARRAY, FFI_ArrowArray::empty())?;
        let array = T::of(&column_of(moved, data_type, place)?)?;
        return Ok(Some(Offered::Arrays(vec![array])));
    }
    let Some(offer) = offer("__arrow_c_stream__")? else {
        return Ok(None);
    };
    let moved = taken(&offer, STREAM, FFI_ArrowArrayStream::empty())?;
    let mut stream = Stream::new(moved, place)?;
    // An object with a length is in memory already; any other may be longer than memory.
    if !object.hasattr("__len__")? {
        return Ok(Some(Offered::Stream(stream)));
    }
    let mut arrays = Vec::new();
    while let Some(array) = stream.next()? {
        arrays.push(array);
    }
    Ok(Some(Offered::Arrays(arrays)))
}
