//! Reads all bytes of sources as a scan does, in chunks on all threads, or as a stream that is decompressed.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rayon::ThreadPool;

use slotscope_base::error::{Error, Result};
use slotscope_read::source::chunk::CHUNK;
use slotscope_read::source::{ReadAt, Source, stream};

/// Calls `look` with all bytes of the sources, in pieces; returns how many these are, and the sum of its results.
///
/// # Errors
/// A source cannot be read.
pub(super) fn read(
    sources: &[Box<dyn Source>],
    pool: &ThreadPool,
    look: impl Fn(&[u8]) -> u64 + Sync,
) -> Result<(u64, u64)> {
    let (mut bytes, mut sum) = (0, 0);
    for source in sources {
        let random = source.size_bytes().zip(source.open_at()?);
        let (of_source, looked) = match random {
            Some((len, opened)) => (len, read_chunks(&**source, (len, &*opened), pool, &look)?),
            None => read_stream(&**source, &look)?,
        };
        bytes += of_source;
        sum += looked;
    }
    Ok((bytes, sum))
}

fn read_chunks(
    source: &dyn Source,
    (len, opened): (u64, &dyn ReadAt),
    pool: &ThreadPool,
    look: &(impl Fn(&[u8]) -> u64 + Sync),
) -> Result<u64> {
    let next = AtomicU64::new(0);
    let parts = pool.broadcast(|_| {
        let (mut buffer, mut sum) = (vec![0; CHUNK], 0);
        loop {
            let at = next.fetch_add(CHUNK as u64, Relaxed);
            if at >= len {
                return Ok(sum);
            }
            let chunk = &mut buffer[..(len - at).min(CHUNK as u64) as usize];
            opened.read_exact_at(chunk, at)?;
            sum += look(chunk);
        }
    });
    let parts: std::io::Result<Vec<u64>> = parts.into_iter().collect();
    let parts = parts.map_err(|error| Error::io(source.path(), error))?;
    Ok(parts.iter().sum())
}

fn read_stream(source: &dyn Source, look: &impl Fn(&[u8]) -> u64) -> Result<(u64, u64)> {
    let mut stream = stream::open(source)?;
    let (mut buffer, mut bytes, mut sum) = (vec![0; CHUNK], 0, 0);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return Ok((bytes, sum)),
            Ok(len) => {
                bytes += len as u64;
                sum += look(&buffer[..len]);
            }
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(Error::io(source.path(), error)),
        }
    }
}
