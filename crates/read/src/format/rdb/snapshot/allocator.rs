//! The bytes an allocator uses for a request.

use serde::{Deserialize, Serialize};

/// The allocator of a server.
#[cfg_attr(feature = "clap", derive(clap::ValueEnum))]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schemas", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Allocator {
    /// Bundled with the sources of Redis and Valkey
    #[default]
    Jemalloc,
    /// That of the distribution
    SystemJemalloc,
    /// The malloc of glibc
    Libc,
}

impl Allocator {
    /// Bytes used for a request of `bytes`.
    pub fn taken(self, bytes: u64) -> u64 {
        match self {
            Allocator::Jemalloc => size_class(bytes, 8),
            Allocator::SystemJemalloc if bytes <= 8 => 8,
            Allocator::SystemJemalloc => size_class(bytes, 16),
            Allocator::Libc => (bytes.saturating_add(23) & !15).saturating_sub(8).max(24),
        }
    }
}

/// The jemalloc size class of a request: four per doubling, at least `quantum` apart.
fn size_class(bytes: u64, quantum: u64) -> u64 {
    let last = bytes.clamp(1, 1 << 62) - 1;
    let doubling = 1u64 << (63 - (last | 1).leading_zeros());
    let step = (doubling / 4).max(quantum);
    (last / step + 1) * step
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_takes_the_next_size_class() {
        for (request, [bundled, system, libc]) in [
            (0, [8, 8, 24]),
            (1, [8, 8, 24]),
            (8, [8, 8, 24]),
            (9, [16, 16, 24]),
            (17, [24, 32, 24]),
            (25, [32, 32, 40]),
            (33, [40, 48, 40]),
            (49, [56, 64, 56]),
            (57, [64, 64, 72]),
            (65, [80, 80, 72]),
            (128, [128, 128, 136]),
            (129, [160, 160, 136]),
            (257, [320, 320, 264]),
            (536, [640, 640, 536]),
            (8193, [10_240, 10_240, 8200]),
        ] {
            let taken = [
                Allocator::Jemalloc,
                Allocator::SystemJemalloc,
                Allocator::Libc,
            ]
            .map(|allocator| allocator.taken(request));
            assert_eq!(taken, [bundled, system, libc], "{request}");
        }
        assert!(Allocator::Jemalloc.taken(u64::MAX) >= 1 << 62);
    }
}
