//! A full-screen terminal that is restored when the program ends, however that happens.

use std::io::{self, Stdout, Write};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};

use anstream::{AutoStream, ColorChoice};
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    self, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;
use ratatui::{Frame, Terminal, TerminalOptions, Viewport};

use slotscope_base::error::{Error, Result};

/// Whether the screen is active. Only changed while holding the lock on standard output.
static IS_OPEN: AtomicBool = AtomicBool::new(false);

/// Maximum columns and lines drawn: those of a 3,840 x 2,160 display in the smallest font. A terminal may claim 65,535
/// of each, and four billion cells do not fit in memory.
const MOST: (u16, u16) = (800, 240);

/// An active screen; dropping it restores the terminal.
pub(crate) struct FullScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// The area drawn last.
    area: Rect,
    is_coloured: bool,
}

impl FullScreen {
    /// Switches to full screen.
    ///
    /// # Errors
    /// The terminal does not support full screen.
    pub(crate) fn open() -> Result<FullScreen> {
        leave_before_panics();
        let area = area().map_err(bad)?;
        enter(&mut io::stdout().lock()).map_err(bad)?;
        let options = TerminalOptions {
            viewport: Viewport::Fixed(area),
        };
        let opened = Terminal::with_options(CrosstermBackend::new(io::stdout()), options);
        let terminal = opened.map_err(|error| {
            leave();
            bad(error)
        })?;
        Ok(FullScreen {
            terminal,
            area,
            is_coloured: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
        })
    }

    /// Redraws the screen; does nothing once it was left.
    ///
    /// # Errors
    /// The terminal is gone.
    pub(crate) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>, bool)) -> Result<()> {
        let _held = io::stdout().lock();
        if IS_OPEN.load(SeqCst) {
            let area = area().map_err(bad)?;
            if self.area != area {
                self.terminal.resize(area).map_err(bad)?;
                self.area = area;
            }
            let is_coloured = self.is_coloured;
            let drawn = self.terminal.draw(|frame| draw(frame, is_coloured));
            drawn.map_err(bad)?;
        }
        Ok(())
    }
}

/// The area to draw.
fn area() -> io::Result<Rect> {
    let ((columns, lines), (most_columns, most_lines)) = (terminal::size()?, MOST);
    Ok(Rect::new(
        0,
        0,
        columns.min(most_columns),
        lines.min(most_lines),
    ))
}

/// Switches to full screen; on failure the terminal is restored.
fn enter(out: &mut impl Write) -> io::Result<()> {
    enable_raw_mode()?;
    IS_OPEN.store(true, SeqCst);
    let entered = execute!(out, EnterAlternateScreen, Hide);
    entered.inspect_err(|_| leave_to(out))
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        leave();
    }
}

/// Restores the terminal if the screen is active, after waiting for a drawing in progress.
pub fn leave() {
    leave_to(&mut io::stdout().lock());
}

fn leave_to(out: &mut impl Write) {
    if IS_OPEN.swap(false, SeqCst) {
        // If the terminal is gone, there is nothing to restore.
        drop(execute!(out, LeaveAlternateScreen, Show));
        drop(disable_raw_mode());
    }
}

/// Restores the terminal first, so that panic messages stay readable.
fn leave_before_panics() {
    static SET: Once = Once::new();
    SET.call_once(|| {
        let hook = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            leave();
            hook(panic);
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

    /// Set for a test run in a terminal that must panic.
    const PANICS: &str = "SLOTSCOPE_TEST_PANICS";

    /// A panic in the drawing thread, or in another one.
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
            // Line ends are as outside of raw mode.
            assert!(after.contains(" icanon"), "{thread}: {shown:?}");
            assert!(after.starts_with("\r\n"), "{thread}: {shown:?}");
        }
    }
}
