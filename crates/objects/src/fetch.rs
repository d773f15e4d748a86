//! Reads a byte range of an object, in the version that was found.

use futures_util::StreamExt;
use object_store::path::Path as StorePath;
use object_store::{GetOptions, GetResult, ObjectStoreExt};
use std::ops::Range;
use std::sync::Arc;

use crate::redirect::AnsweredBy;
use crate::refusal::{CHANGED, Refusal};
use crate::store::Store;
use slotscope_read::source::identity::ObjectIdentity;

/// The location of an object.
#[derive(Debug, Clone)]
pub(super) struct Place {
    /// Its store.
    pub store: Arc<Store>,
    /// Its name there.
    pub location: StorePath,
}

/// The identity and the first bytes of an object.
#[derive(Debug)]
pub(super) struct Start {
    /// Its size and version.
    pub identity: ObjectIdentity,
    /// Its first bytes.
    pub head: Vec<u8>,
}

impl Place {
    /// The first `most` bytes of an object, or all if it is shorter.
    ///
    /// # Errors
    /// The object is missing or inaccessible, or its server returns something else.
    pub(super) async fn start(&self, most: u64) -> Result<Start, Refusal> {
        let options = GetOptions {
            range: Some((0..most).into()),
            ..GetOptions::default()
        };
        let answer = match self.get(options).await {
            // An empty object has no first byte.
            Err(Refusal { status: 416, .. }) => return self.empty().await,
            answer => answer?,
        };
        let identity = identity_of(&answer);
        let len = identity.size_bytes.min(most);
        let head = read(answer, len, self).await?;
        Ok(Start { identity, head })
    }

    async fn empty(&self) -> Result<Start, Refusal> {
        let answer = self.store.objects.head(&self.location).await;
        let meta = answer.map_err(|error| self.refusal(&error))?;
        if meta.size > 0 {
            return Err(WRONG.into());
        }
        let identity = ObjectIdentity {
            size_bytes: 0,
            etag: meta.e_tag,
            modified_ms: None,
            answered_by: None,
        };
        Ok(Start {
            identity,
            head: Vec::new(),
        })
    }

    /// The bytes in `range` of the object identified by `identity`.
    ///
    /// # Errors
    /// As for `start`, or the object has changed.
    pub(super) async fn range(
        &self,
        identity: &ObjectIdentity,
        range: Range<u64>,
    ) -> Result<Vec<u8>, Refusal> {
        let options = GetOptions {
            range: Some(range.clone().into()),
            if_match: identity.strong_etag().map(String::from),
            ..GetOptions::default()
        };
        let answer = self.get(options).await?;
        // Not every server honours If-Match.
        if identity_of(&answer) != *identity {
            return Err(CHANGED.into());
        }
        read(answer, range.end - range.start, self).await
    }

    async fn get(&self, options: GetOptions) -> Result<GetResult, Refusal> {
        let answer = self.store.objects.get_opts(&self.location, options).await;
        answer.map_err(|error| self.refusal(&error))
    }

    fn refusal(&self, error: &object_store::Error) -> Refusal {
        Refusal::of(error, self.store.address.kind)
    }
}

const WRONG: &str =
    "the server sends other bytes than it was asked for; copy the object and analyze the copy";

fn identity_of(answer: &GetResult) -> ObjectIdentity {
    let answered_by = answer.extensions.get::<AnsweredBy>();
    let modified = answer.meta.last_modified.timestamp_millis();
    ObjectIdentity {
        size_bytes: answer.meta.size,
        etag: answer.meta.e_tag.clone(),
        // A time of 1970 means that the server did not report one.
        modified_ms: u64::try_from(modified).ok().filter(|at| *at > 0),
        answered_by: answered_by.map(|AnsweredBy(host)| host.clone()),
    }
}

/// The body of a response, which must have `len` bytes.
async fn read(answer: GetResult, len: u64, place: &Place) -> Result<Vec<u8>, Refusal> {
    let mut bytes = Vec::with_capacity(len as usize);
    let mut pieces = answer.into_stream();
    while let Some(piece) = pieces.next().await {
        let piece = piece.map_err(|error| place.refusal(&error))?;
        if (bytes.len() + piece.len()) as u64 > len {
            return Err(WRONG.into());
        }
        bytes.extend_from_slice(&piece);
    }
    if bytes.len() as u64 == len {
        Ok(bytes)
    } else {
        Err(WRONG.into())
    }
}
