//! Misbehaving servers on loopback: they hang, talk nonsense, never end, refuse. A test defines the reply to each
//! command.

use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

/// A reply to a command.
#[derive(Debug, Clone)]
pub enum Answer {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The first bytes, then the others repeatedly until the client disconnects.
    Endless(Vec<u8>, Vec<u8>),
    /// One of these bytes now and then, for ever.
    Drip(Vec<u8>),
    /// None; the connection stays open.
    Hang,
    /// None; the connection is closed.
    Close,
}

impl Answer {
    /// These bytes.
    pub fn of(bytes: impl AsRef<[u8]>) -> Answer {
        Answer::Bytes(bytes.as_ref().to_vec())
    }

    /// A text.
    pub fn text(text: &str) -> Answer {
        Answer::of(format!("${}\r\n{text}\r\n", text.len()))
    }

    /// A limit for the time until it is given up: short if it never ends, and else longer than a busy machine takes for it.
    pub fn limit_secs(&self) -> u64 {
        match self {
            Answer::Hang | Answer::Drip(_) => 2,
            _ => 60,
        }
    }

    /// Sends it; an error if nothing may follow.
    fn send(self, stream: &mut TcpStream) -> io::Result<()> {
        match self {
            Answer::Bytes(bytes) => stream.write_all(&bytes),
            Answer::Endless(first, again) => {
                stream.write_all(&first)?;
                let again = again.repeat(1 + (64 << 10) / again.len().max(1));
                loop {
                    stream.write_all(&again)?;
                }
            }
            Answer::Drip(bytes) => bytes.iter().cycle().try_for_each(|byte| {
                thread::sleep(Duration::from_millis(100));
                stream.write_all(&[*byte])
            }),
            // Keeps reading, so that full buffers do not block the client.
            Answer::Hang => io::copy(stream, &mut io::sink()).map(drop),
            Answer::Close => Err(io::ErrorKind::NotConnected.into()),
        }
    }
}

/// A hostile server; dropping it ends its threads.
pub struct Hostile {
    pub port: u16,
    is_over: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl Hostile {
    /// Starts a server that replies to each command as `answer` says; `answer` gets the words joined by spaces.
    pub fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Hostile {
        Hostile::at_port(move |_, command| answer(command))
    }

    /// The same for a server that announces itself: `answer` gets its port, too.
    pub fn at_port(answer: impl Fn(u16, &str) -> Answer + Send + Sync + 'static) -> Hostile {
        Hostile::serving(move |port, stream| {
            let mut commands = BufReader::new(stream.try_clone()?);
            while let Some(command) = command(&mut commands) {
                answer(port, &command).send(stream)?;
            }
            Ok(())
        })
    }

    /// A server that answers every command alike.
    pub fn always(answer: Answer) -> Hostile {
        Hostile::start(move |_| answer.clone())
    }

    /// A server that answers the first bytes, whatever they are, and closes.
    pub fn at_once(answer: Answer) -> Hostile {
        Hostile::serving(move |_, stream| {
            let _ = stream.read(&mut [0; 16])?;
            answer.clone().send(stream)
        })
    }

    fn serving(
        serve: impl Fn(u16, &mut TcpStream) -> io::Result<()> + Send + Sync + 'static,
    ) -> Hostile {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let is_over = Arc::<AtomicBool>::default();
        let over = Arc::clone(&is_over);
        let close = |stream: &TcpStream| drop(stream.shutdown(Shutdown::Both));
        let accept = move || {
            let (serve, known) = (&serve, &Mutex::new(HashMap::new()));
            thread::scope(|threads| {
                for (number, stream) in listener.incoming().map_while(Result::ok).enumerate() {
                    let mut own = stream.try_clone().unwrap();
                    known.lock().unwrap().insert(number, stream);
                    if over.load(SeqCst) {
                        break;
                    }
                    threads.spawn(move || {
                        let _ = serve(port, &mut own);
                        close(&own);
                        known.lock().unwrap().remove(&number);
                    });
                }
                known.lock().unwrap().values().for_each(close);
            });
        };
        Hostile {
            port,
            is_over,
            accepts: Some(thread::spawn(accept)),
        }
    }

    /// Its address.
    pub fn address(&self) -> String {
        format!("127.0.0.1:{}", self.port)
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        let _ = self.accepts.take().map(JoinHandle::join);
    }
}
/// The words of the next command; `None` at the end of the stream or if it is not a command.
fn command(from: &mut impl BufRead) -> Option<String> {
    let count = number(from, '*')?;
    let word = |_| {
        let mut word = vec![0; number(from, '$')? + 2];
        from.read_exact(&mut word).ok()?;
        word.truncate(word.len() - 2);
        Some(String::from_utf8_lossy(&word).into_owned())
    };
    let words: Option<Vec<String>> = (0..count).map(word).collect();
    Some(words?.join(" "))
}

fn number(from: &mut impl BufRead, sign: char) -> Option<usize> {
    let mut line = String::new();
    from.take(64).read_line(&mut line).ok()?;
    line.trim_end().strip_prefix(sign)?.parse().ok()
}
