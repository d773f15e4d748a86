//! A test server on loopback: accepts one connection and replies as scripted.

use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::thread;
use std::time::Duration;

use slotscope_base::secret::Credentials;
use slotscope_base::slot::set::SlotSet;
use slotscope_read::source::collection::servers::Role;

use crate::address::Address;
use crate::connection::Access;
use crate::readings::Asked;
use crate::resp::{self, Reply};
use crate::silent::Silent;

/// Starts it; `answer` gets the words of a command joined by blanks. It closes the connection if there is no reply.
pub(crate) fn start(mut answer: impl FnMut(&str) -> Option<Vec<u8>> + Send + 'static) -> Address {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut commands = BufReader::new(stream.try_clone().unwrap());
        // A command looks like a reply that is an array of strings.
        let read = |from: &mut _| resp::read_all(from, &["SCAN"], &mut |_, _| Ok(()));
        while let Ok([Reply::Array(words)]) = read(&mut commands).as_deref() {
            let words = words.iter().cloned().filter_map(Reply::into_text);
            let words: Vec<String> = words
                .map(|word| String::from_utf8_lossy(&word).into_owned())
                .collect();
            let Some(reply) = answer(&words.join(" ")) else {
                return;
            };
            if stream.write_all(&reply).is_err() {
                return;
            }
        }
    });
    Address::Tcp("127.0.0.1".into(), port)
}

/// How to connect to it.
pub(crate) fn access() -> Access {
    Access {
        credentials: Credentials::default(),
        tls: None,
        address_map: Vec::new(),
        timeout: Duration::from_millis(500),
        silent: Silent::default(),
    }
}

/// The primary at `address`, of which no slots are asked for.
pub(crate) fn asked(address: Address) -> Asked {
    Asked {
        id: Some("a".into()),
        name: "h:1".into(),
        role: Role::Primary,
        address,
        owned: SlotSet::none(),
    }
}

/// A bulk string reply.
pub(crate) fn text(text: &str) -> Vec<u8> {
    format!("${}\r\n{text}\r\n", text.len()).into_bytes()
}

/// A SCAN page.
pub(crate) fn page(cursor: &str, keys: &[&str]) -> Vec<u8> {
    let keys: Vec<u8> = [format!("*{}\r\n", keys.len()).into_bytes()]
        .into_iter()
        .chain(keys.iter().map(|key| text(key)))
        .flatten()
        .collect();
    [b"*2\r\n".to_vec(), text(cursor), keys].concat()
}
