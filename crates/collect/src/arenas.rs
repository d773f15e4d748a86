//! Few arenas of glibc's allocator. Without this each reading thread has its own, and an arena keeps the memory of the
//! largest reply that its threads have read.

/// As many threads as may allocate at once without waiting for each other.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const ARENAS: i32 = 2;

/// Limits the arenas that are made from now on. Other allocators need no limit.
pub(crate) fn limit() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        static ONCE: std::sync::Once = std::sync::Once::new();
        ONCE.call_once(|| {
            // SAFETY: this changes one number that glibc reads under its own lock when a thread first allocates.
            unsafe { libc::mallopt(libc::M_ARENA_MAX, ARENAS) };
        });
    }
}
