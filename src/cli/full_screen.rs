//! A terminal that one screen fills, and that is as it was when the program ends, however it ends.

use std::io::{self, Stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use anstream::{AutoStream, ColorChoice};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::{Frame, Terminal};

use slotscope_engine::error::{Error, Result};

/// Whether a screen fills the terminal. Who holds standard output may change it.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// The screen; dropping it leaves it.
pub(crate) struct FullScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    is_coloured: bool,
}

impl FullScreen {
    /// Fills the terminal.
    ///
    /// # Errors
    /// It cannot be filled.
    pub(crate) fn open() -> Result<FullScreen> {
        leave_before_panics();
        let mut out = io::stdout();
        enable_raw_mode().map_err(bad)?;
        IS_OPEN.store(true, SeqCst);
        let screen = execute!(out, EnterAlternateScreen, Hide)
            .and_then(|()| Terminal::new(CrosstermBackend::new(out)));
        let terminal = screen.map_err(|error| {
            leave();
            bad(error)
        })?;
        Ok(FullScreen {
            terminal,
            is_coloured: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        })
    }

    /// Draws it anew; nothing is drawn once it was left.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>, bool)) -> Result<()> {
        let _held = io::stdout().lock();
        if IS_OPEN.load(SeqCst) {
            let is_coloured = self.is_coloured;
            let drawn = self.terminal.draw(|frame| draw(frame, is_coloured));
            drawn.map_err(bad)?;
        }
        Ok(())
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        leave();
    }
}

/// Gives the terminal back, where a screen fills it. A drawing is waited for.
pub(crate) fn leave() {
    let mut out = io::stdout().lock();
    if IS_OPEN.swap(false, SeqCst) {
        // A terminal that is gone needs nothing.
        drop(execute!(out, LeaveAlternateScreen, Show));
        drop(disable_raw_mode());
    }
}

/// The message of a panic must remain readable afterwards.
fn leave_before_panics() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let said = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            said(panic);
        }));
    });
}

fn bad(error: io::Error) -> Error {
    Error::bad("terminal", error.to_string())
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use std::process::Command;

    /// Set in a terminal where the test has to panic.
    const PANICS: &str = "SLOTSCOPE_TEST_PANICS";

    /// A panic of the thread that draws, or of another one.
    fn panic_on_a_screen(is_drawing: bool) {
        let mut full = FullScreen::open().unwrap();
        let drawn = full.draw(|_, _| assert!(!is_drawing, "the panic"));
        let other = std::thread::spawn(|| panic!("the panic"));
        drop((drawn, other.join()));
    }

    #[test]
    fn a_panic_is_printed_on_the_terminal_as_it_was() {
        if let Ok(thread) = std::env::var(PANICS) {
            return panic_on_a_screen(thread == "drawing");
        }
        let program = std::env::current_exe().unwrap();
        let test = "cli::full_screen::tests::a_panic_is_printed_on_the_terminal_as_it_was";
        let line = format!("{} --exact {test} --nocapture; stty -a", program.display());
        for thread in ["drawing", "other"] {
            let mut terminal = Command::new("script");
            terminal.args(["-qec", &line, "/dev/null"]);
            let output = terminal.env(PANICS, thread).output().unwrap();
            let shown = String::from_utf8_lossy(&output.stdout).into_owned();
            let (before, after) = shown.split_once("the panic").expect(&shown);
            for restored in ["\x1b[?1049l", "\x1b[?25h"] {
                assert!(before.contains(restored), "{thread}: {shown:?}");
            }
            assert!(!after.contains("\x1b[?1049l"), "{thread}: {shown:?}");
            // Lines end as they do outside of raw mode.
            assert!(after.contains(" icanon"), "{thread}: {shown:?}");
            assert!(after.starts_with("\r\n"), "{thread}: {shown:?}");
        }
    }
}
