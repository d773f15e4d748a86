//! Bytes to and from a server, with a deadline per exchange: a server that trickles single bytes cannot stall a run.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
#[cfg(unix)]
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use crate::address::Address;

/// A stream whose reads and writes fail after its deadline.
pub(crate) struct Timed {
    stream: Stream,
    deadline: Instant,
}

enum Stream {
    Tcp(TcpStream),
    #[cfg(unix)]
    Unix(UnixStream),
}

impl Timed {
    /// Connects.
    ///
    /// # Errors
    /// An I/O error, for the last of the host's addresses.
    pub(crate) fn connect(address: &Address, timeout: Duration) -> io::Result<Timed> {
        let deadline = Instant::now() + timeout;
        let stream = match address {
            Address::Tcp(host, port) => Stream::Tcp(tcp(host, *port, deadline)?),
            #[cfg(unix)]
            Address::Unix(path) => Stream::Unix(UnixStream::connect(path)?),
            #[cfg(not(unix))]
            Address::Unix(_) => return Err(io::ErrorKind::Unsupported.into()),
        };
        Ok(Timed { stream, deadline })
    }

    /// Starts the deadline of the next exchange.
    pub(crate) fn begin(&mut self, timeout: Duration) {
        self.deadline = Instant::now() + timeout;
    }

    fn left(&self) -> io::Result<Duration> {
        left(self.deadline)
    }
}

/// Whether the error is a timeout.
pub(crate) fn is_timeout(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock
    )
}

fn tcp(host: &str, port: u16, deadline: Instant) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "the name of the host is not known");
    let addresses = (host, port).to_socket_addrs().map_err(|_| {
        io::Error::new(
            io::ErrorKind::HostUnreachable,
            "the name of the host is not known",
        )
    })?;
    for address in addresses {
        match TcpStream::connect_timeout(&address, left(deadline)?) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

fn left(deadline: Instant) -> io::Result<Duration> {
    let left = deadline.saturating_duration_since(Instant::now());
    if left.is_zero() {
        Err(io::ErrorKind::TimedOut.into())
    } else {
        Ok(left)
    }
}

impl Read for Timed {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let left = Some(self.left()?);
        match &mut self.stream {
            Stream::Tcp(stream) => {
                stream.set_read_timeout(left)?;
                stream.read(into)
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                stream.set_read_timeout(left)?;
                stream.read(into)
            }
        }
    }
}

impl Write for Timed {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let left = Some(self.left()?);
        match &mut self.stream {
            Stream::Tcp(stream) => {
                stream.set_write_timeout(left)?;
                stream.write(bytes)
            }
            #[cfg(unix)]
            Stream::Unix(stream) => {
                stream.set_write_timeout(left)?;
                stream.write(bytes)
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
