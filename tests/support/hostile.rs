//! Misbehaving servers on loopback: they hang, talk nonsense, never end, refuse. A test defines the reply to each
//! command.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

/// A reply to a command.
#[derive(Debug, Clone)]
pub enum Answer {
    /// These bytes.
    Bytes(Vec<u8>),
    /// The first bytes, then the others repeatedly until the client disconnects.
    Endless(Vec<u8>, Vec<u8>),
    /// This byte now and then, for ever.
    Drip(u8),
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
}

/// A hostile server; dropping it ends its threads.
pub struct Hostile {
    pub port: u16,
    connections: Arc<Mutex<Vec<TcpStream>>>,
    is_over: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl Hostile {
    /// Starts a server that replies to each command as `answer` says; `answer` gets the words joined by spaces.
    pub fn start(answer: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Hostile {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (connections, is_over) = (Arc::default(), Arc::<AtomicBool>::default());
        let (known, over) = (Arc::clone(&connections), Arc::clone(&is_over));
        let accept = move || accept(&listener, &known, &over, &Arc::new(answer));
        Hostile {
            port,
            connections,
            is_over,
            accepts: Some(std::thread::spawn(accept)),
        }
    }

    /// A server that answers every command alike.
    pub fn always(answer: Answer) -> Hostile {
        Hostile::start(move |_| answer.clone())
    }
}

impl Drop for Hostile {
    fn drop(&mut self) {
        self.is_over.store(true, SeqCst);
        // Wakes the accepting thread.
        drop(TcpStream::connect(("127.0.0.1", self.port)));
        for connection in self.connections.lock().unwrap().iter() {
            let _ = connection.shutdown(Shutdown::Both);
        }
        let _ = self.accepts.take().map(JoinHandle::join);
    }
}

fn accept<F: Fn(&str) -> Answer + Send + Sync + 'static>(
    listener: &TcpListener,
    connections: &Mutex<Vec<TcpStream>>,
    is_over: &AtomicBool,
    answer: &Arc<F>,
) {
    let mut threads = Vec::new();
    for stream in listener.incoming().map_while(Result::ok) {
        connections
            .lock()
            .unwrap()
            .push(stream.try_clone().unwrap());
        if is_over.load(SeqCst) {
            break;
        }
        let answer = Arc::clone(answer);
        threads.push(std::thread::spawn(move || serve(stream, &*answer)));
    }
    for connection in connections.lock().unwrap().iter() {
        let _ = connection.shutdown(Shutdown::Both);
    }
    threads.into_iter().for_each(|thread| drop(thread.join()));
}

/// Answers the commands of a client until it disconnects or gets no more replies.
fn serve(mut stream: TcpStream, answer: &dyn Fn(&str) -> Answer) {
    let mut commands = BufReader::new(stream.try_clone().unwrap());
    while let Some(command) = command(&mut commands) {
        match answer(&command) {
            Answer::Bytes(bytes) if stream.write_all(&bytes).is_ok() => {}
            Answer::Endless(first, again) => {
                let mut is_sent = stream.write_all(&first).is_ok();
                let again = again.repeat(1 + (64 << 10) / again.len().max(1));
                while is_sent {
                    is_sent = stream.write_all(&again).is_ok();
                }
                return;
            }
            Answer::Drip(byte) => {
                while stream.write_all(&[byte]).is_ok() {
                    std::thread::sleep(Duration::from_millis(100));
                }
                return;
            }
            // Keeps reading, so that full buffers do not block the client.
            Answer::Hang => drop(std::io::copy(&mut commands, &mut std::io::sink())),
            Answer::Bytes(_) | Answer::Close => {
                let _ = stream.shutdown(Shutdown::Both);
                return;
            }
        }
    }
}

/// The words of the next command; `None` at the end of the stream or if it is not a command.
pub fn command(from: &mut impl BufRead) -> Option<String> {
    let count = number(from, '*')?;
    let words: Option<Vec<String>> = (0..count)
        .map(|_| {
            let mut word = vec![0; number(from, '$')? + 2];
            from.read_exact(&mut word).ok()?;
            word.truncate(word.len() - 2);
            Some(String::from_utf8_lossy(&word).into_owned())
        })
        .collect();
    words.map(|words| words.join(" "))
}

fn number(from: &mut impl BufRead, sign: char) -> Option<usize> {
    let mut line = String::new();
    from.take(64).read_line(&mut line).ok()?;
    line.trim_end().strip_prefix(sign)?.parse().ok()
}
