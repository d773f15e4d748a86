//! The version of a store object being read.

/// A version of an object. Every request asks for it, so that replacing the object meanwhile is an error.
#[derive(Debug, Clone, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct ObjectIdentity {
    /// Its length.
    pub size_bytes: u64,
    /// Its entity tag as spelled by the server, with quotes.
    pub etag: Option<String>,
    /// When it was last modified, in milliseconds since 1970.
    pub modified_ms: Option<u64>,
    /// Host and port of the server that sent it, if a redirect led to another than the one named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
}

/// Compares versions, regardless of the server that sent them.
impl PartialEq for ObjectIdentity {
    fn eq(&self, other: &Self) -> bool {
        let version = |object: &Self| (object.size_bytes, object.etag.clone(), object.modified_ms);
        version(self) == version(other)
    }
}

impl ObjectIdentity {
    /// The tag, if equal tags imply equal bytes.
    pub fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }
}
