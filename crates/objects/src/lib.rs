//! Objects in cloud stores and files on web servers: found by name, then read by byte ranges of the version that was
//! found.
#![deny(missing_docs)]

mod address;
mod ahead;
mod client;
mod connection;
mod fetch;
mod listing;
mod redirect;
mod refusal;
mod runtime;
mod store;

use std::io::{self, Read};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::Duration;

use futures_util::{StreamExt, TryStreamExt, stream};
use object_store::ObjectMeta;
use object_store::path::Path as StorePath;

use crate::address::{Address, Kind};
use crate::ahead::Ahead;
use crate::fetch::{Place, Start};
use crate::listing::Listed;
use crate::refusal::Refusal;
use crate::store::Store;
use slotscope_base::error::{Error, Result};
use slotscope_read::source::identity::ObjectIdentity;
use slotscope_read::source::storage_options::StorageOptions;
use slotscope_read::source::{Found, ReadAt, Source, SourceFacts, decompress};

/// Time limit for finding the objects of one argument.
const PATIENCE: Duration = Duration::from_secs(600);

/// Concurrent requests while finding objects.
const AT_ONCE: usize = 16;

/// Bytes at the start of an object that are kept when it is found, to detect its format.
const HEAD: u64 = 64 << 10;
/// Limit for the heads of all objects of an argument, in bytes.
const HEADS: u64 = 64 << 20;

/// Adds the objects that an address names; false if it is a local file.
///
/// # Errors
/// An object is unreadable, a store unreachable, or an option invalid.
pub fn find(path: &Path, options: &StorageOptions, found: &mut Found) -> Result<bool> {
    let text = path.to_str().filter(|_| !path.exists());
    let Some(address) = text.and_then(Address::parse) else {
        return Ok(false);
    };
    let place = address.name(&address.key);
    let refuse = |refusal: Refusal| refused(&place, &refusal.reason);
    runtime::start().map_err(|error| Error::io(&place, error))?;
    let store = Arc::new(Store::open(address, options).map_err(refuse)?);
    let in_time = runtime::wait(async { tokio::time::timeout(PATIENCE, find_in(&store)).await });
    let (objects, folders) = in_time
        .unwrap_or_else(|_| {
            Err((
                place.clone(),
                "took longer than 10 minutes to find; name fewer".into(),
            ))
        })
        .map_err(|(place, refusal)| refused(&place, &refusal.reason))?;
    found.passed_over += folders;
    for object in objects {
        found.sources.push(Box::new(Object(object)));
    }
    Ok(true)
}

fn refused(place: &Path, reason: &str) -> Error {
    Error::bad_file(place, reason)
}

/// The objects named by the address of a store, and the number of skipped folders.
async fn find_in(store: &Arc<Store>) -> InStore {
    let address = &store.address;
    let place = |refusal| (address.name(&address.key), refusal);
    let listed = if address.is_pattern() {
        listing::matching(store, &address.key).await
    } else if address.is_prefix() {
        listing::under(store, &address.key).await
    } else {
        match one(store).await {
            Err(refusal) if refusal.status == 404 && address.kind != Kind::Web => {
                folder(store, refusal.reason).await
            }
            object => return Ok((vec![object.map_err(place)?], 0)),
        }
    };
    let Listed { objects, folders } = listed.map_err(place)?;
    if objects.is_empty() {
        return Err(place("names no object; check the spelling".into()));
    }
    let most = (HEADS / objects.len() as u64).clamp(64, HEAD);
    let opened = stream::iter(objects).map(|object| listed_object(store, object, most));
    Ok((opened.buffered(AT_ONCE).try_collect().await?, folders))
}

/// Objects and the number of skipped folders, or the place that could not be read.
type InStore = std::result::Result<(Vec<Arc<Inner>>, usize), (PathBuf, Refusal)>;

/// The object with exactly this name.
async fn one(store: &Arc<Store>) -> std::result::Result<Arc<Inner>, Refusal> {
    let address = &store.address;
    let location = match address.kind {
        Kind::Web => StorePath::default(), // the store's address is already complete
        _ => StorePath::parse(&address.key).map_err(|_| {
            Refusal::from("has an empty part or one of dots between slashes; check the spelling")
        })?,
    };
    let place = Place {
        store: store.clone(),
        location,
    };
    let start = place.start(HEAD).await?;
    Ok(Arc::new(Inner::new(
        address.name(&address.key),
        place,
        start,
    )))
}

/// The objects in a folder that was given without its slash; `missing` is the error if it does not exist.
async fn folder(store: &Store, missing: String) -> std::result::Result<Listed, Refusal> {
    match listing::under(store, &format!("{}/", store.address.key)).await {
        Ok(listed) if listed.objects.is_empty() => Err(missing.into()),
        listed => listed,
    }
}

/// An object from a listing.
async fn listed_object(
    store: &Arc<Store>,
    object: ObjectMeta,
    most: u64,
) -> std::result::Result<Arc<Inner>, (PathBuf, Refusal)> {
    let name = store.address.name(object.location.as_ref());
    let place = Place {
        store: store.clone(),
        location: object.location,
    };
    let start = match object.size {
        0 => Start {
            identity: ObjectIdentity {
                etag: object.e_tag,
                ..ObjectIdentity::default()
            },
            head: Vec::new(),
        },
        _ => {
            let start = place.start(most).await;
            start.map_err(|refusal| (name.clone(), refusal))?
        }
    };
    Ok(Arc::new(Inner::new(name, place, start)))
}

/// An object, as a source.
#[derive(Debug)]
struct Object(Arc<Inner>);

/// State shared by all readers of an object.
#[derive(Debug)]
struct Inner {
    facts: SourceFacts,
    place: Place,
    identity: ObjectIdentity,
    /// Its first bytes.
    head: Vec<u8>,
    /// The prefetched parts, while a random-access reader exists.
    ahead: Mutex<Weak<Ahead>>,
    /// The error that ended reading.
    failure: OnceLock<Refusal>,
}

impl Inner {
    fn new(name: PathBuf, place: Place, start: Start) -> Self {
        let stored = start.identity.size_bytes;
        let size = (!decompress::is_compressed(&start.head)).then_some(stored);
        let facts = SourceFacts {
            stored_bytes: Some(stored),
            is_rereadable: true,
            object: Some(start.identity.clone()),
            written_ms: start.identity.modified_ms,
            ..SourceFacts::of(name, size)
        };
        Inner {
            facts,
            place,
            identity: start.identity,
            head: start.head,
            ahead: Mutex::default(),
            failure: OnceLock::new(),
        }
    }

    /// The bytes in `range`; after a failure no more requests are sent.
    async fn range(&self, range: Range<u64>) -> std::result::Result<Vec<u8>, Refusal> {
        if let Some(refusal) = self.failure.get() {
            return Err(refusal.clone());
        }
        let bytes = self.place.range(&self.identity, range).await;
        bytes.map_err(|refusal| self.failure.get_or_init(|| refusal).clone())
    }

    /// The window of parts shared by all random-access readers.
    fn ahead(self: &Arc<Self>) -> Arc<Ahead> {
        let mut shared = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        shared.upgrade().unwrap_or_else(|| {
            let ahead = Arc::new(Ahead::new(self.clone()));
            *shared = Arc::downgrade(&ahead);
            ahead
        })
    }
}

impl Source for Object {
    fn facts(&self) -> &SourceFacts {
        &self.0.facts
    }

    fn failure(&self) -> Option<Error> {
        let refusal = self.0.failure.get()?;
        Some(refused(&self.0.facts.path, &refusal.reason))
    }

    fn open_at(&self) -> Result<Option<Box<dyn ReadAt>>> {
        match self.failure() {
            Some(failure) => Err(failure),
            None if self.0.facts.size_bytes.is_none() => Ok(None),
            None => Ok(Some(Box::new(self.0.ahead()))),
        }
    }

    fn open(&self) -> io::Result<Box<dyn Read + Send>> {
        Ok(Box::new(FromFront {
            ahead: Ahead::new(self.0.clone()),
            size: self.0.identity.size_bytes,
            at: 0,
        }))
    }
}

/// A sequential reader with a window of its own.
struct FromFront {
    ahead: Ahead,
    size: u64,
    at: u64,
}

impl Read for FromFront {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let len = (into.len() as u64).min(self.size - self.at) as usize;
        self.ahead.read_exact_at(&mut into[..len], self.at)?;
        self.at += len as u64;
        Ok(len)
    }
}
