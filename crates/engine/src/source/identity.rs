//! The version of an object of a store that is read.

/// A version of an object: each request asks for this one, so that an object that is replaced
/// meanwhile is an error.
#[derive(Debug, Clone, Eq, Default, serde::Serialize, serde::Deserialize)]
pub struct ObjectIdentity {
    /// Its length.
    pub size_bytes: u64,
    /// Its entity tag, as the server spells it, with quotes.
    pub etag: Option<String>,
    /// When it was last written, in milliseconds since 1970.
    pub modified_ms: Option<u64>,
    /// Host and port of the server that sent it, where a redirect led to another than was named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answered_by: Option<String>,
}

/// The same version, whichever of its servers sent it.
impl PartialEq for ObjectIdentity {
    fn eq(&self, other: &Self) -> bool {
        let version = |of: &Self| (of.size_bytes, of.etag.clone(), of.modified_ms);
        version(self) == version(other)
    }
}

impl ObjectIdentity {
    /// The tag, where equal tags mean equal bytes.
    pub fn strong_etag(&self) -> Option<&str> {
        self.etag.as_deref().filter(|tag| !tag.starts_with("W/"))
    }
}
