//! Columns of ours as Arrow arrays for others, which share them.

use std::ffi::{CString, c_int, c_void};
use std::mem;
use std::ptr;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyCapsule;

use crate::arrow::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};

/// The values of a column.
pub enum Values {
    /// Slots.
    U16(Vec<u16>),
    /// Counts and amounts.
    U64(Vec<u64>),
    /// Shares and ratios.
    F64(Vec<f64>),
    /// Names and words: where each starts and the last ends, and all of them.
    Text(Vec<i64>, Vec<u8>),
}

/// A column.
pub struct Column {
    /// What it is called.
    pub name: &'static str,
    /// Its values; any for those that are null.
    pub values: Values,
    /// A bit for each value, 0 where it is null, and how many are.
    pub nulls: Option<(Vec<u8>, usize)>,
}

/// Columns of one length.
pub struct Columns {
    /// How many values each has.
    pub len: usize,
    /// They.
    pub columns: Vec<Column>,
}

impl Values {
    fn format(&self) -> &'static str {
        match self {
            Values::U16(_) => "S",
            Values::U64(_) => "L",
            Values::F64(_) => "g",
            Values::Text(..) => "U",
        }
    }

    fn buffers(&self) -> Vec<*const c_void> {
        match self {
            Values::U16(values) => vec![values.as_ptr().cast()],
            Values::U64(values) => vec![values.as_ptr().cast()],
            Values::F64(values) => vec![values.as_ptr().cast()],
            Values::Text(offsets, text) => vec![offsets.as_ptr().cast(), text.as_ptr().cast()],
        }
    }
}

/// What a schema points to.
struct SchemaParts {
    _strings: [CString; 2],
    children: Vec<*mut ArrowSchema>,
}

/// What an array points to.
struct ArrayParts {
    _columns: Arc<Columns>,
    buffers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
}

const NULLABLE: i64 = 2;

fn schema(format: &str, name: &str, children: Vec<ArrowSchema>) -> ArrowSchema {
    let string = |text: &str| CString::new(text).unwrap_or_default();
    let strings = [string(format), string(name)];
    let [format, name] = strings.each_ref().map(|string| string.as_ptr());
    let mut parts = Box::new(SchemaParts {
        _strings: strings,
        children: children
            .into_iter()
            .map(|of| Box::into_raw(Box::new(of)))
            .collect(),
    });
    ArrowSchema {
        format,
        name,
        flags: NULLABLE,
        n_children: parts.children.len() as i64,
        children: parts.children.as_mut_ptr(),
        metadata: ptr::null(),
        dictionary: ptr::null_mut(),
        release: Some(release_schema),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// SAFETY: called once for a schema that `schema` made.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: the private data is the box that `schema` put there; a child that was moved away has no `release`.
    unsafe {
        let parts = Box::from_raw((*schema).private_data.cast::<SchemaParts>());
        parts
            .children
            .iter()
            .for_each(|child| drop(Box::from_raw(*child)));
        (*schema).release = None;
    }
}

fn array(
    columns: &Arc<Columns>,
    nulls: usize,
    buffers: Vec<*const c_void>,
    children: Vec<ArrowArray>,
) -> ArrowArray {
    let mut parts = Box::new(ArrayParts {
        _columns: columns.clone(),
        buffers,
        children: children
            .into_iter()
            .map(|of| Box::into_raw(Box::new(of)))
            .collect(),
    });
    ArrowArray {
        length: columns.len as i64,
        null_count: nulls as i64,
        n_buffers: parts.buffers.len() as i64,
        n_children: parts.children.len() as i64,
        buffers: parts.buffers.as_ptr(),
        children: parts.children.as_mut_ptr(),
        offset: 0,
        dictionary: ptr::null_mut(),
        release: Some(release_array),
        private_data: Box::into_raw(parts).cast(),
    }
}

/// SAFETY: called once for an array that `array` made.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: the private data is the box that `array` put there; a child that was moved away has no `release`.
    unsafe {
        let parts = Box::from_raw((*array).private_data.cast::<ArrayParts>());
        parts
            .children
            .iter()
            .for_each(|child| drop(Box::from_raw(*child)));
        (*array).release = None;
    }
}

impl Columns {
    /// The type of column `at`, and the column.
    pub fn column(self: &Arc<Self>, at: usize) -> (ArrowSchema, ArrowArray) {
        let column = &self.columns[at];
        let bits = column
            .nulls
            .as_ref()
            .map_or(ptr::null(), |(bits, _)| bits.as_ptr());
        let mut buffers = vec![bits.cast()];
        buffers.extend(column.values.buffers());
        let nulls = column.nulls.as_ref().map_or(0, |(_, count)| *count);
        let schema = schema(column.values.format(), column.name, Vec::new());
        (schema, array(self, nulls, buffers, Vec::new()))
    }

    /// The type of all columns as a table, and the table.
    fn table(self: &Arc<Self>) -> (ArrowSchema, ArrowArray) {
        let columns = (0..self.columns.len()).map(|at| self.column(at));
        let (schemas, arrays) = columns.unzip();
        let array = array(self, 0, vec![ptr::null()], arrays);
        (schema("+s", "", schemas), array)
    }

    /// A stream of one table.
    pub fn stream<'py>(self: &Arc<Self>, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        let parts = Box::new((self.clone(), false));
        let stream = ArrowArrayStream {
            get_schema: Some(get_schema),
            get_next: Some(get_next),
            get_last_error: Some(get_last_error),
            release: Some(release_stream),
            private_data: Box::into_raw(parts).cast(),
        };
        stream.into_capsule(py)
    }
}

/// The columns of a stream, and whether they were taken.
type StreamParts = (Arc<Columns>, bool);

/// SAFETY: called with a stream that `Columns::stream` made, and room for a schema.
unsafe extern "C" fn get_schema(stream: *mut ArrowArrayStream, out: *mut ArrowSchema) -> c_int {
    // SAFETY: the private data is the box that `stream` put there; `out` holds nothing that is to be released.
    unsafe {
        let (columns, _) = &*(*stream).private_data.cast::<StreamParts>();
        ptr::write(out, columns.table().0);
    }
    0
}

/// SAFETY: called with a stream that `Columns::stream` made, and room for an array.
unsafe extern "C" fn get_next(stream: *mut ArrowArrayStream, out: *mut ArrowArray) -> c_int {
    // SAFETY: as above; an array without a `release` ends the stream.
    unsafe {
        let (columns, is_taken) = &mut *(*stream).private_data.cast::<StreamParts>();
        let array = match mem::replace(is_taken, true) {
            true => ArrowArray::empty(),
            false => columns.table().1,
        };
        ptr::write(out, array);
    }
    0
}

/// SAFETY: no call fails, so there is nothing to say.
unsafe extern "C" fn get_last_error(_: *mut ArrowArrayStream) -> *const std::ffi::c_char {
    ptr::null()
}

/// SAFETY: called once for a stream that `Columns::stream` made.
unsafe extern "C" fn release_stream(stream: *mut ArrowArrayStream) {
    // SAFETY: the private data is the box that `stream` put there.
    unsafe {
        drop(Box::from_raw((*stream).private_data.cast::<StreamParts>()));
        (*stream).release = None;
    }
}
