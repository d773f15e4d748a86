//! Arrow arrays of keys that others made, read where they lie.

use std::ffi::CStr;
use std::ops::Range;
use std::ptr;
use std::slice;
use std::sync::Arc;

use pyo3::prelude::*;

use crate::arrow::ffi::{ArrowArray, ArrowArrayStream, ArrowSchema};
use crate::error::bad;

/// How the keys of an array lie in memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Layout {
    /// One buffer, and an offset of 4 bytes before each key and behind the last.
    Offsets32,
    /// The same with offsets of 8 bytes.
    Offsets64,
    /// Views of 16 bytes, which hold a short key or say where a long one is.
    Views,
}

/// What a column of keys is.
#[derive(Debug, Clone, Copy)]
struct KeyType {
    layout: Layout,
    /// Whether it is the only column of a table.
    in_table: bool,
}

/// Keys of an array.
pub struct KeyArray {
    /// Keeps the buffers.
    whole: ArrowArray,
    of: KeyType,
}

impl KeyType {
    fn of(schema: &ArrowSchema) -> PyResult<Self> {
        let format = format_of(schema)?;
        if format != "+s" {
            let layout = layout(schema)?;
            return Ok(KeyType {
                layout,
                in_table: false,
            });
        }
        if schema.n_children != 1 {
            let what = format!(
                "a table of {} columns; select the one with the keys",
                schema.n_children
            );
            return Err(bad("keys", what));
        }
        // SAFETY: a schema has as many children as it says.
        let column = unsafe { &**schema.children };
        Ok(KeyType {
            layout: layout(column)?,
            in_table: true,
        })
    }
}

fn format_of(schema: &ArrowSchema) -> PyResult<&str> {
    if schema.format.is_null() {
        return Err(bad("keys", "an Arrow array without a type"));
    }
    // SAFETY: the format of a schema is a C string.
    let format = unsafe { CStr::from_ptr(schema.format) };
    Ok(format.to_str().unwrap_or("?"))
}

fn layout(schema: &ArrowSchema) -> PyResult<Layout> {
    if !schema.dictionary.is_null() {
        let what = "dictionary-encoded (categorical); cast them to text or binary";
        return Err(bad("keys", what));
    }
    match format_of(schema)? {
        "u" | "z" => Ok(Layout::Offsets32),
        "U" | "Z" => Ok(Layout::Offsets64),
        "vu" | "vz" => Ok(Layout::Views),
        format => {
            let what = format!("Arrow type \"{format}\"; cast them to text or binary");
            Err(bad("keys", what))
        }
    }
}

impl KeyArray {
    /// The keys of `whole`, which is of type `of`.
    fn new(whole: ArrowArray, of: KeyType) -> PyResult<Self> {
        let array = KeyArray { whole, of };
        match array.is_whole() {
            true => array.check_nulls().map(|()| array),
            false => Err(bad("keys", "a malformed Arrow array; build it anew")),
        }
    }

    /// Whether all that is read of the array is there. How long its buffers are is not said.
    fn is_whole(&self) -> bool {
        let whole = &self.whole;
        if self.of.in_table && (whole.n_children != 1 || whole.children.is_null()) {
            return false;
        }
        let column = self.column();
        let sizes = [whole.length, whole.offset, column.length, column.offset];
        if sizes.into_iter().any(|size| size < 0) {
            return false;
        }
        let end = match self.of.in_table {
            true => whole.offset.checked_add(whole.length),
            false => Some(whole.length),
        };
        let is_long_enough = end.is_some_and(|end| end <= column.length);
        is_long_enough && (self.len() == 0 || !self.buffer(1).is_null())
    }

    /// The array that has the buffers of the keys.
    fn column(&self) -> &ArrowArray {
        match self.of.in_table {
            // SAFETY: a table of one column has one child, which lives as long as it does.
            true => unsafe { &**self.whole.children },
            false => &self.whole,
        }
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.whole.length as usize
    }

    /// Where the first key is in the buffers of the column.
    fn first(&self) -> usize {
        let of_table = if self.of.in_table {
            self.whole.offset
        } else {
            0
        };
        (of_table + self.column().offset) as usize
    }

    fn buffer(&self, at: usize) -> *const u8 {
        let column = self.column();
        match (at as i64) < column.n_buffers && !column.buffers.is_null() {
            // SAFETY: an array has as many buffers as it says.
            true => unsafe { (*column.buffers.add(at)).cast() },
            false => ptr::null(),
        }
    }

    fn check_nulls(&self) -> PyResult<()> {
        let bits = self.buffer(0);
        if self.column().null_count == 0 || bits.is_null() {
            return Ok(());
        }
        // SAFETY: the validity buffer has a bit for every element.
        let is_key = |at: usize| unsafe { *bits.add(at / 8) } >> (at % 8) & 1 == 1;
        match (0..self.len()).find(|i| !is_key(self.first() + i)) {
            Some(i) => Err(bad(
                format!("key {i}"),
                "is null; drop what is no key first",
            )),
            None => Ok(()),
        }
    }

    /// Where key `i` starts in the one buffer of its array; `len()` is where the last one ends.
    fn offset(&self, i: usize) -> usize {
        let (offsets, at) = (self.buffer(1), self.first() + i);
        // SAFETY: there is an offset for each element and one more. They may lie anywhere.
        let offset = match self.of.layout {
            Layout::Offsets32 => {
                i64::from(unsafe { offsets.cast::<i32>().add(at).read_unaligned() })
            }
            _ => unsafe { offsets.cast::<i64>().add(at).read_unaligned() },
        };
        offset.max(0) as usize
    }

    /// The buffer that all keys lie in, and nothing where they lie in several.
    pub fn one_buffer(&self) -> Option<&[u8]> {
        if self.of.layout == Layout::Views || self.len() == 0 || self.buffer(2).is_null() {
            return None;
        }
        // SAFETY: offsets never fall, so the buffer reaches to the last one at least.
        Some(unsafe { slice::from_raw_parts(self.buffer(2), self.offset(self.len())) })
    }

    /// Where keys `range` start in `one_buffer` and where the last of them ends, counted from where the first starts, into
    /// `spans`; and that place. `None` where they lie too far apart, or no key lies where it says.
    pub fn spans(&self, range: Range<usize>, spans: &mut Vec<u32>) -> Option<usize> {
        let (first, last) = (self.offset(range.start), self.offset(range.end));
        if last.checked_sub(first)? > u32::MAX as usize / 2 {
            return None;
        }
        let (offsets, at) = (self.buffer(1), self.first() + range.start);
        let count = range.len() + 1;
        spans.clear();
        // SAFETY: there is an offset for each element and one more.
        match self.of.layout {
            Layout::Offsets32 if offsets.cast::<i32>().is_aligned() => {
                let offsets =
                    unsafe { slice::from_raw_parts(offsets.cast::<i32>().add(at), count) };
                spans.extend(
                    offsets
                        .iter()
                        .map(|offset| offset.wrapping_sub(first as i32) as u32),
                );
            }
            Layout::Offsets64 if offsets.cast::<i64>().is_aligned() => {
                let offsets =
                    unsafe { slice::from_raw_parts(offsets.cast::<i64>().add(at), count) };
                spans.extend(
                    offsets
                        .iter()
                        .map(|offset| offset.wrapping_sub(first as i64) as u32),
                );
            }
            _ => return None,
        }
        // All pairs, not up to the first wrong one: so it is vectorised.
        let is_sorted = spans
            .windows(2)
            .fold(true, |so_far, pair| so_far & (pair[0] <= pair[1]));
        is_sorted.then_some(first)
    }

    /// Key `i`.
    pub fn get(&self, i: usize) -> PyResult<&[u8]> {
        let key = match self.of.layout {
            Layout::Views => self.viewed(i),
            _ => {
                let keys = self.one_buffer().unwrap_or_default();
                keys.get(self.offset(i)..self.offset(i + 1))
            }
        };
        key.ok_or_else(|| bad(format!("key {i}"), "lies outside of its Arrow array"))
    }

    fn viewed(&self, i: usize) -> Option<&[u8]> {
        let at = self.first() + i;
        // SAFETY: there are 16 bytes for each element.
        let view = unsafe { slice::from_raw_parts(self.buffer(1).add(16 * at), 16) };
        let word =
            |at: usize| i32::from_le_bytes([view[at], view[at + 1], view[at + 2], view[at + 3]]);
        let len = usize::try_from(word(0)).ok()?;
        if len <= 12 {
            return Some(&view[4..4 + len]);
        }
        let buffer = usize::try_from(word(8)).ok()?;
        let start = usize::try_from(word(12)).ok()?;
        // The last buffer has the lengths of those between.
        let last = usize::try_from(self.column().n_buffers - 1).ok()?;
        if 2 + buffer >= last || self.buffer(last).is_null() || self.buffer(2 + buffer).is_null() {
            return None;
        }
        // SAFETY: it is a number for each of them.
        let size = unsafe { self.buffer(last).cast::<i64>().add(buffer).read_unaligned() };
        // SAFETY: the buffer has so many bytes.
        let bytes =
            unsafe { slice::from_raw_parts(self.buffer(2 + buffer), usize::try_from(size).ok()?) };
        bytes.get(start..start.checked_add(len)?)
    }
}

/// Arrays of keys that come one after the other, until there are no more.
pub struct KeyStream {
    stream: ArrowArrayStream,
    of: KeyType,
}

impl KeyStream {
    /// The keys of `stream`.
    pub fn new(mut stream: ArrowArrayStream) -> PyResult<Self> {
        let mut schema = ArrowSchema::empty();
        let get = stream
            .get_schema
            .ok_or_else(|| bad("keys", "a released stream"))?;
        // SAFETY: the stream is not released; an error leaves the schema as it is.
        let code = unsafe { get(&mut stream, &mut schema) };
        if code != 0 {
            return Err(failure(&mut stream, code));
        }
        let of = KeyType::of(&schema)?;
        Ok(KeyStream { stream, of })
    }

    /// The next array.
    pub fn next(&mut self) -> PyResult<Option<KeyArray>> {
        let mut array = ArrowArray::empty();
        let Some(get) = self.stream.get_next else {
            return Ok(None);
        };
        // SAFETY: the stream is not released; an error leaves the array as it is.
        let code = unsafe { get(&mut self.stream, &mut array) };
        if code != 0 {
            return Err(failure(&mut self.stream, code));
        }
        match array.release {
            // The end of the stream.
            None => Ok(None),
            Some(_) => KeyArray::new(array, self.of).map(Some),
        }
    }
}

fn failure(stream: &mut ArrowArrayStream, code: i32) -> PyErr {
    // SAFETY: asked right after a call that failed, which is when it may be asked.
    let message = stream.get_last_error.map(|get| unsafe { get(stream) });
    match message.filter(|message| !message.is_null()) {
        // SAFETY: a C string until the next call.
        Some(message) => bad("keys", unsafe { CStr::from_ptr(message) }.to_string_lossy()),
        None => bad("keys", format!("the Arrow stream failed with code {code}")),
    }
}

/// What offers Arrow arrays.
pub enum Offered {
    /// Arrays that are all there.
    Arrays(Arc<[KeyArray]>),
    /// A stream that can be read once.
    Stream(KeyStream),
}

/// The keys that `object` offers as Arrow arrays; `None` where it offers none.
pub fn offered(object: &Bound<'_, PyAny>) -> PyResult<Option<Offered>> {
    if object.hasattr("__arrow_c_array__")? {
        let (schema, array): (Bound<'_, PyAny>, Bound<'_, PyAny>) =
            object.call_method0("__arrow_c_array__")?.extract()?;
        let of = KeyType::of(&ArrowSchema::from_capsule(&schema)?)?;
        let array = KeyArray::new(ArrowArray::from_capsule(&array)?, of)?;
        return Ok(Some(Offered::Arrays([array].into())));
    }
    if !object.hasattr("__arrow_c_stream__")? {
        return Ok(None);
    }
    let capsule = object.call_method0("__arrow_c_stream__")?;
    let mut stream = KeyStream::new(ArrowArrayStream::from_capsule(&capsule)?)?;
    // What has a length is in memory already; else it may be longer than memory.
    if !object.hasattr("__len__")? {
        return Ok(Some(Offered::Stream(stream)));
    }
    let mut arrays = Vec::new();
    while let Some(array) = stream.next()? {
        arrays.push(array);
    }
    Ok(Some(Offered::Arrays(arrays.into())))
}
