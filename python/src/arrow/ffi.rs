//! The structures of the Arrow C data interface, as its specification lays them out, and the capsules that carry them.
//!
//! A structure is released by whoever holds it last; one that was moved elsewhere has no `release`.

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyCapsuleMethods};

macro_rules! released_on_drop {
    ($name:ident, $capsule:literal) => {
        impl Drop for $name {
            fn drop(&mut self) {
                if let Some(release) = self.release {
                    // SAFETY: its maker gave the function for this structure, which is released once.
                    unsafe { release(self) }
                }
            }
        }

        // SAFETY: the interface lets a consumer use and release a structure on any thread.
        unsafe impl Send for $name {}
        // SAFETY: arrays and types are not changed after they are made; streams are only used by `&mut`.
        unsafe impl Sync for $name {}

        impl $name {
            /// What its capsule is called.
            pub const CAPSULE: &'static CStr = $capsule;

            /// A capsule that owns it.
            pub fn into_capsule(self, py: Python<'_>) -> PyResult<Bound<'_, PyCapsule>> {
                PyCapsule::new_with_value(py, self, Self::CAPSULE)
            }

            /// Takes it out of `capsule`, which keeps a structure that is released already.
            pub fn from_capsule(capsule: &Bound<'_, PyAny>) -> PyResult<Self> {
                let capsule = capsule.cast::<PyCapsule>()?;
                let held = capsule
                    .pointer_checked(Some(Self::CAPSULE))?
                    .cast::<$name>();
                // SAFETY: a capsule of this name holds this structure; its `release` is taken away with it.
                let taken = unsafe { ptr::read(held.as_ptr()) };
                // SAFETY: as above; the GIL is held, so nothing else reads it.
                unsafe { (*held.as_ptr()).release = None };
                Ok(taken)
            }
        }
    };
}

/// The type of an array.
#[repr(C)]
pub struct ArrowSchema {
    pub format: *const c_char,
    pub name: *const c_char,
    pub metadata: *const c_char,
    pub flags: i64,
    pub n_children: i64,
    pub children: *mut *mut ArrowSchema,
    pub dictionary: *mut ArrowSchema,
    pub release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    pub private_data: *mut c_void,
}

/// An array.
#[repr(C)]
pub struct ArrowArray {
    pub length: i64,
    pub null_count: i64,
    pub offset: i64,
    pub n_buffers: i64,
    pub n_children: i64,
    pub buffers: *const *const c_void,
    pub children: *mut *mut ArrowArray,
    pub dictionary: *mut ArrowArray,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    pub private_data: *mut c_void,
}

/// Arrays of one type, one after the other.
#[repr(C)]
pub struct ArrowArrayStream {
    pub get_schema: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowSchema) -> c_int>,
    pub get_next: Option<unsafe extern "C" fn(*mut ArrowArrayStream, *mut ArrowArray) -> c_int>,
    pub get_last_error: Option<unsafe extern "C" fn(*mut ArrowArrayStream) -> *const c_char>,
    pub release: Option<unsafe extern "C" fn(*mut ArrowArrayStream)>,
    pub private_data: *mut c_void,
}

released_on_drop!(ArrowSchema, c"arrow_schema");
released_on_drop!(ArrowArray, c"arrow_array");
released_on_drop!(ArrowArrayStream, c"arrow_array_stream");

impl ArrowSchema {
    /// One that holds nothing.
    pub const fn empty() -> Self {
        ArrowSchema {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl ArrowArray {
    /// One that holds nothing.
    pub const fn empty() -> Self {
        ArrowArray {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}
