//! The flags of `slotscope top`, and the event loop between terminal and reader.

use std::io::{self, IsTerminal};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread;
use std::time::Duration;

use clap::Args;
use ratatui::crossterm::event::{
    self, Event as Typed, KeyCode, KeyEvent, KeyEventKind, KeyModifiers,
};

use slotscope_app::cli::live::{self, LiveArgs};
use slotscope_app::cli::{Command, Ending, Run, values};
use slotscope_app::options::headings::{ARGUMENTS, RUN};
use slotscope_base::error::{Error, Result};
use slotscope_base::text::shell_word;
use slotscope_collect::address::Address;
use slotscope_collect::live::Live;
use slotscope_read::source::remote;

use crate::cli::full_screen::FullScreen;
use crate::top::reader::{Reader, Request, Update};
use crate::top::screen::{Screen, Wish};
use crate::top::view;

/// The shortest interval: each reading costs node time.
const LEAST: Duration = Duration::from_millis(200);
/// A node that does not answer within this time does not delay the screen.
const TIMEOUT: Duration = Duration::from_secs(2);

/// A running cluster on the terminal: what is hot now
///
/// Shards with memory, load and replication lag, the hottest slots; Enter lists the keys of a slot.
/// Servers are only read, without MONITOR.
#[derive(Args, Debug)]
#[command(next_help_heading = RUN, after_help = EXAMPLES)]
pub struct TopArgs {
    /// A node: HOST:PORT, redis://HOST:PORT, rediss:// for TLS
    ///
    /// Any node of the cluster will do; with several, the first that answers is used.
    #[arg(value_name = "URL", required = true, help_heading = ARGUMENTS)]
    pub urls: Vec<String>,
    /// Between two readings of the cluster, at least 200ms
    #[arg(long, value_name = "TIME", value_parser = values::duration, default_value = "1s")]
    pub interval: Duration,
    /// How servers are reached
    #[command(flatten)]
    pub live: LiveArgs,
}

const EXAMPLES: &str = "\
Examples:
  slotscope top redis://HOST:6379
  REDISCLI_AUTH=... slotscope top rediss://HOST:6379 --user slotscope --interval 5s";

/// An event while the screen is active.
enum Event {
    Typed(io::Result<Typed>),
    Read(Update),
    /// The reader panicked; its message was printed.
    Ended,
}

impl Run for TopArgs {
    fn run(&self, _: &Command) -> Result<Ending> {
        let seeds = live::seeds(&self.urls)?;
        self.check(&remote::without_password(&self.urls[0]))?;
        let mut access = self.live.access(&seeds)?;
        access.timeout = access.timeout.min(TIMEOUT);
        let name = seeds[0].address.to_string();
        let addresses: Vec<Address> = seeds.into_iter().map(|seed| seed.address).collect();
        Live::connect(&addresses, &access)?;
        let (events, happened) = mpsc::channel();
        let (wishes, requests) = mpsc::channel();
        let reader = Reader {
            seeds: addresses,
            access,
            interval: self.interval,
            requests,
            tell: teller(events.clone()),
        };
        start(events.clone(), reader)?;
        let mut full = FullScreen::open()?;
        start_input(events)?;
        let screen = Screen {
            cluster_name: name,
            ..Screen::default()
        };
        show(&mut full, screen, &happened, &wishes)
    }
}

impl TopArgs {
    fn check(&self, first: &str) -> Result<()> {
        if self.interval < LEAST {
            let reason = "reads the servers too often; give at least 200ms";
            return Err(Error::option(
                "interval",
                format!("{:?}", self.interval),
                reason,
            ));
        }
        let instead = format!(
            "slotscope analyze {} --load 10s prints a report",
            shell_word(first)
        );
        if !io::stdout().is_terminal() {
            let reason = format!("is not a terminal; {instead}");
            return Err(Error::bad("standard output", reason));
        }
        if std::env::var_os("TERM").is_some_and(|term| term == "dumb") {
            let reason = format!("this terminal cannot place text on a screen; {instead}");
            return Err(Error::bad("TERM=dumb", reason));
        }
        Ok(())
    }
}

/// Ignores send errors: nobody listens once the screen is closed.
fn teller(events: Sender<Event>) -> impl FnMut(Update) + Send + 'static {
    move |update| drop(events.send(Event::Read(update)))
}

/// Starts the reader; if it panics, the screen ends too.
fn start(events: Sender<Event>, reader: Reader<impl FnMut(Update) + Send + 'static>) -> Result<()> {
    struct Last(Sender<Event>);
    impl Drop for Last {
        fn drop(&mut self) {
            drop(self.0.send(Event::Ended));
        }
    }
    let last = Last(events);
    spawn("reader", move || {
        let _last = last;
        reader.run();
    })
}

/// Starts the thread that waits for keys and terminal resizing.
fn start_input(events: Sender<Event>) -> Result<()> {
    spawn("input", move || {
        loop {
            let typed = event::read();
            let is_lost = typed.is_err();
            if events.send(Event::Typed(typed)).is_err() || is_lost {
                return;
            }
        }
    })
}

fn spawn(name: &str, run: impl FnOnce() + Send + 'static) -> Result<()> {
    let thread = thread::Builder::new().name(name.to_owned()).spawn(run);
    thread
        .map(drop)
        .map_err(|error| Error::bad("top", format!("no thread can be started: {error}")))
}

/// Redraws the screen after each event, until the user quits.
fn show(
    full: &mut FullScreen,
    mut screen: Screen,
    happened: &Receiver<Event>,
    wishes: &Sender<Request>,
) -> Result<Ending> {
    loop {
        full.draw(|frame, is_coloured| view::draw(frame, &screen, is_coloured))?;
        let Ok(first) = happened.recv() else {
            return Ok(Ending::Done);
        };
        // Handle all pending events before redrawing.
        for event in std::iter::once(first).chain(happened.try_iter()) {
            match event {
                Event::Read(Update::Read(read)) => screen.take(*read),
                Event::Read(Update::Failed(why)) => screen.fail(why),
                Event::Read(Update::Keys(slot, keys)) => screen.take_keys(slot, keys),
                Event::Typed(Ok(Typed::Key(key))) if key.kind != KeyEventKind::Release => {
                    if !obey(&mut screen, key, wishes) {
                        return Ok(Ending::Done);
                    }
                }
                Event::Typed(Ok(_)) => {}
                Event::Typed(Err(error)) => return Err(Error::bad("terminal", error.to_string())),
                Event::Ended => {
                    return Err(Error::bad("top", "the thread that reads the cluster ended"));
                }
            }
        }
    }
}

/// Executes a key press; `false` to quit.
fn obey(screen: &mut Screen, key: KeyEvent, wishes: &Sender<Request>) -> bool {
    let is_interrupt =
        key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
    let wish = if is_interrupt {
        Some(Wish::Quit)
    } else {
        screen.on_key(key.code)
    };
    // The reader outlives the screen, so sending cannot fail.
    match wish {
        None => {}
        Some(Wish::Quit) => return false,
        Some(Wish::Keys(slot)) => drop(wishes.send(Request::Keys(slot))),
        Some(Wish::Pause(is_paused)) => drop(wishes.send(Request::Pause(is_paused))),
    }
    true
}
