//! Python objects as sources for the scan: files and keys.
//!
//! Exceptions raised by Python during a scan are stored, and raised when the scan has ended.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use slotscope::Result;
use slotscope::source::{ReadAt, Source, SourceFacts, decompress};

use crate::amounts::Amounts;
use crate::arrow::{KeyArray, Offered, Stream, offered};
use crate::error::bad;
use crate::keys::bytes_of;

/// Keys passed to the scan at a time.
const PAGE: usize = 4096;

/// The first exception from any source of a run.
#[derive(Debug, Clone, Default)]
pub(crate) struct Raised(Arc<Mutex<Option<PyErr>>>);

impl Raised {
    /// Stores `error`, and returns the error that ends the scan.
    fn keep(&self, error: PyErr) -> io::Error {
        let message = error.to_string();
        locked(&self.0).get_or_insert(error);
        io::Error::other(message)
    }

    /// Raises the stored exception, if any.
    pub(crate) fn check(&self) -> PyResult<()> {
        locked(&self.0).take().map_or(Ok(()), Err)
    }
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A binary file object, and the position at which its dump starts.
struct PythonFile {
    facts: SourceFacts,
    object: Mutex<Py<PyAny>>,
    start: u64,
    /// Number of bytes from there on, if it is seekable.
    size: Option<u64>,
    raised: Raised,
}

impl std::fmt::Debug for PythonFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "PythonFile({:?})", self.facts.path)
    }
}

/// The file object `object` as a source, from its current position.
pub(crate) fn file(object: &Bound<'_, PyAny>, raised: &Raised) -> PyResult<Arc<dyn Source>> {
    let given = object
        .getattr("name")
        .and_then(|name| name.extract::<PathBuf>());
    let name = match given {
        Ok(name) => name,
        Err(_) => PathBuf::from(format!("<{}>", object.get_type().name()?)),
    };
    let is_seekable = object
        .call_method0("seekable")
        .is_ok_and(|answer| answer.is_truthy().unwrap_or(false));
    let mut file = PythonFile {
        facts: SourceFacts::of(name, None),
        object: Mutex::new(object.clone().unbind()),
        start: 0,
        size: None,
        raised: raised.clone(),
    };
    if is_seekable {
        file.start = object.call_method0("tell")?.extract()?;
        let end: u64 = object.call_method1("seek", (0, 2))?.extract()?;
        file.size = Some(end.saturating_sub(file.start));
        object.call_method1("seek", (file.start,))?;
        let read = object.call_method1("read", (decompress::MAGIC,))?;
        let head = read.cast::<PyBytes>();
        let is_compressed = head.is_ok_and(|head| decompress::is_compressed(head.as_bytes()));
        let size = file.size.filter(|_| !is_compressed);
        file.facts = SourceFacts {
            is_rereadable: true,
            ..SourceFacts::of(file.facts.path, size)
        };
        object.call_method1("seek", (file.start,))?;
    }
    Ok(Arc::new(FileSource(Shared(Arc::new(file)))))
}

impl PythonFile {
    /// Reads at `offset`, or the next bytes. The lock is taken before the GIL, never the other way round.
    fn read(&self, into: &mut [u8], offset: Option<u64>) -> io::Result<usize> {
        let object = locked(&self.object);
        Python::attach(|py| -> PyResult<usize> {
            let object = object.bind(py);
            if let Some(offset) = offset {
                object.call_method1("seek", (self.start + offset,))?;
            }
            let answer = object.call_method1("read", (into.len(),))?;
            let Ok(bytes) = answer.cast::<PyBytes>() else {
                let reason = "its read() gives no bytes; open it in binary mode";
                return Err(bad(self.facts.path.to_string_lossy(), reason));
            };
            let read = bytes.as_bytes();
            if read.len() > into.len() {
                let reason = "its read() gives more bytes than asked for";
                return Err(bad(self.facts.path.to_string_lossy(), reason));
            }
            into[..read.len()].copy_from_slice(read);
            Ok(read.len())
        })
        .map_err(|error| self.raised.keep(error))
    }
}

/// A file object shared by readers with separate positions.
#[derive(Debug, Clone)]
struct Shared(Arc<PythonFile>);

impl ReadAt for Shared {
    fn read_exact_at(&self, mut into: &mut [u8], mut offset: u64) -> io::Result<()> {
        while !into.is_empty() {
            let count = self.0.read(into, Some(offset))?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            offset += count as u64;
            into = &mut into[count..];
        }
        Ok(())
    }
}

/// A sequential reader of a file object.
struct FromFront {
    file: Shared,
    /// Its position, if the object is seekable.
    at: Option<u64>,
}

impl Read for FromFront {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.file.0.read(into, self.at)?;
        self.at = self.at.map(|at| at + count as u64);
        Ok(count)
    }
}

/// A file object as a source.
#[derive(Debug)]
struct FileSource(Shared);

impl Source for FileSource {
    fn facts(&self) -> &SourceFacts {
        &self.0.0.facts
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        let file = self.facts().size_bytes.map(|_| self.0.clone());
        Ok(file.map(|file| Box::new(file) as Box<dyn ReadAt>))
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(FromFront {
            file: self.0.clone(),
            at: self.0.0.size.map(|_| 0),
        }))
    }
}

/// Keys as a source: in the protocol of Redis, which can spell any key; as CSV where they have amounts.
#[derive(Debug)]
struct KeySource {
    facts: SourceFacts,
    keys: Keys,
    amounts: Arc<[(String, Amounts)]>,
    raised: Raised,
}

/// The container of the keys.
enum Keys {
    /// A list, or anything else that can be iterated repeatedly.
    Iterable(Py<PyAny>),
    /// An iterator, which the first reader takes.
    Iterator(Mutex<Option<Py<PyAny>>>),
    /// Arrays.
    Arrays(Arc<[KeyArray]>),
    /// In a stream of arrays, which is taken away where it is read.
    Stream(Mutex<Option<Stream<KeyArray>>>),
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keys")
    }
}

/// The keys of `object` as a source, with their amounts, each under the name of its column in CSV.
pub(crate) fn keys(
    object: &Bound<'_, PyAny>,
    amounts: Vec<(String, Amounts)>,
    raised: &Raised,
) -> PyResult<Arc<dyn Source>> {
    for (_, amounts) in &amounts {
        amounts.check(object.len()?)?;
    }
    let keys = match offered(object, "keys")? {
        Some(Offered::Arrays(arrays)) => Keys::Arrays(arrays.into()),
        Some(Offered::Stream(stream)) => Keys::Stream(Mutex::new(Some(stream))),
        None => {
            let iterator = object.try_iter()?;
            if iterator.as_any().is(object) {
                Keys::Iterator(Mutex::new(Some(object.clone().unbind())))
            } else {
                Keys::Iterable(object.clone().unbind())
            }
        }
    };
    let facts = SourceFacts {
        is_rereadable: matches!(keys, Keys::Iterable(_) | Keys::Arrays(_)),
        ..SourceFacts::of("<keys>", None)
    };
    Ok(Arc::new(KeySource {
        facts,
        keys,
        amounts: amounts.into(),
        raised: raised.clone(),
    }))
}

impl Source for KeySource {
    fn facts(&self) -> &SourceFacts {
        &self.facts
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        let from = match &self.keys {
            Keys::Arrays(arrays) => Next::Arrays {
                arrays: arrays.clone(),
                at: (0, 0),
            },
            Keys::Stream(stream) => Next::Stream(locked(stream).take()),
            Keys::Iterator(iterator) => Next::Objects(locked(iterator).take(), 0),
            Keys::Iterable(object) => {
                let iterator = Python::attach(|py| {
                    let iterator = object.bind(py).try_iter()?;
                    Ok(iterator.into_any().unbind())
                });
                Next::Objects(Some(iterator.map_err(|error| self.raised.keep(error))?), 0)
            }
        };
        Ok(Box::new(Pages {
            from,
            page: Page::new(self.amounts.clone()),
            read: 0,
            raised: self.raised.clone(),
        }))
    }
}

/// The origin of the next keys.
enum Next {
    /// A Python iterator and the number of keys it has yielded; `None` if it was consumed before.
    Objects(Option<Py<PyAny>>, usize),
    /// Arrays, with the indices of the next array and key.
    Arrays {
        arrays: Arc<[KeyArray]>,
        at: (usize, usize),
    },
    /// The rest of a stream; nothing where it was read before.
    Stream(Option<Stream<KeyArray>>),
}

/// Keys page by page.
struct Pages {
    from: Next,
    page: Page,
    /// How much of the page was read.
    read: usize,
    raised: Raised,
}

impl Read for Pages {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.read == self.page.text.len() {
            self.page.text.clear();
            self.read = 0;
            let next = self.from.next_page(&mut self.page);
            next.map_err(|error| self.raised.keep(error))?;
        }
        let rest = &self.page.text[self.read..];
        let count = rest.len().min(into.len());
        into[..count].copy_from_slice(&rest[..count]);
        self.read += count;
        Ok(count)
    }
}

impl Next {
    /// Writes the next page; nothing where there are no more keys.
    fn next_page(&mut self, page: &mut Page) -> PyResult<()> {
        match self {
            Next::Objects(None, _) | Next::Stream(None) => Ok(()),
            Next::Objects(Some(iterator), known) => Python::attach(|py| {
                let keys: Vec<Bound<'_, PyAny>> = iterator
                    .bind(py)
                    .try_iter()?
                    .take(PAGE)
                    .collect::<PyResult<_>>()?;
                page.begin(keys.len());
                for (i, key) in keys.iter().enumerate() {
                    page.add(&bytes_of(key, *known + i)?);
                }
                *known += keys.len();
                Ok(())
            }),
            Next::Arrays { arrays, at } => {
                let (mut array, mut key) = *at;
                while arrays.get(array).is_some_and(|keys| keys.len() == 0) {
                    (array, key) = (array + 1, 0);
                }
                let Some(keys) = arrays.get(array) else {
                    return Ok(());
                };
                let to = keys.len().min(key + PAGE);
                page.begin(to - key);
                for i in key..to {
                    page.add(keys.get(i)?);
                }
                *at = if to == keys.len() {
                    (array + 1, 0)
                } else {
                    (array, to)
                };
                Ok(())
            }
            Next::Stream(Some(stream)) => {
                while page.text.is_empty() {
                    let Some(keys) = stream.next()? else {
                        break;
                    };
                    page.begin(keys.len());
                    (0..keys.len()).try_for_each(|i| keys.get(i).map(|key| page.add(key)))?;
                }
                Ok(())
            }
        }
    }
}

/// Rows as text: a reply of the server, or, where keys have amounts, the next rows of a CSV file.
struct Page {
    amounts: Arc<[(String, Amounts)]>,
    text: Vec<u8>,
    /// Keys of all pages so far.
    keys: usize,
}

impl Page {
    /// The page before the first key: the header of CSV.
    fn new(amounts: Arc<[(String, Amounts)]>) -> Self {
        let columns = amounts.iter().map(|(column, _)| column.as_str());
        let names: Vec<&str> = std::iter::once("key").chain(columns).collect();
        let header = if amounts.is_empty() {
            String::new()
        } else {
            names.join(",") + "\n"
        };
        Page {
            amounts,
            text: header.into_bytes(),
            keys: 0,
        }
    }

    /// Begins a page of this many keys. No page is empty: an empty one would end the input.
    fn begin(&mut self, keys: usize) {
        if keys > 0 && self.amounts.is_empty() {
            self.line('*', keys);
        }
    }

    /// Adds a key.
    fn add(&mut self, key: &[u8]) {
        if self.amounts.is_empty() {
            self.line('$', key.len());
            self.text.extend_from_slice(key);
            self.text.extend_from_slice(b"\r\n");
            return;
        }
        self.text.push(b'"');
        for part in key.split_inclusive(|byte| *byte == b'"') {
            self.text.extend_from_slice(part);
            if part.ends_with(b"\"") {
                self.text.push(b'"');
            }
        }
        self.text.push(b'"');
        for (_, amounts) in &*self.amounts {
            self.text.push(b',');
            if let Some(amount) = amounts.get(self.keys) {
                // Writing into memory does not fail.
                drop(write!(self.text, "{amount}"));
            }
        }
        self.text.push(b'\n');
        self.keys += 1;
    }

    fn line(&mut self, kind: char, number: usize) {
        // As above.
        drop(write!(self.text, "{kind}{number}\r\n"));
    }
}
