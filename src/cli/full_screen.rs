//! A terminal that one screen fills, and that is as it was when the program ends or is stopped, however that happens.

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

use slotscope_engine::error::{Error, Result};

use crate::cli::drawing;

/// Whether a screen fills the terminal. Who holds standard output may change it.
static IS_OPEN: AtomicBool = AtomicBool::new(false);
/// Whether one will once the program continues.
static IS_STOPPED: AtomicBool = AtomicBool::new(false);

/// The columns and lines that are drawn at most: those of a display of 3,840 by 2,160 pixels in the smallest letters. A
/// terminal may claim 65,535 of each, and four thousand million cells do not fit in memory.
const MOST: (u16, u16) = (800, 240);

/// The screen; dropping it leaves it.
pub(crate) struct FullScreen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
    /// The part of the terminal that was drawn last.
    area: Rect,
    is_coloured: bool,
    is_ascii: bool,
}

impl FullScreen {
    /// Fills the terminal.
    ///
    /// # Errors
    /// It cannot be filled.
    pub(crate) fn open() -> Result<FullScreen> {
        leave_before_panics();
        let area = area().map_err(bad)?;
        enter(&mut io::stdout().lock()).map_err(bad)?;
        let options = TerminalOptions {
            viewport: Viewport::Fixed(area),
        };
        let terminal = Terminal::with_options(CrosstermBackend::new(io::stdout()), options);
        let terminal = terminal.map_err(|error| {
            leave();
            bad(error)
        })?;
        Ok(FullScreen {
            terminal,
            area,
            is_coloured: AutoStream::choice(&io::stdout()) != ColorChoice::Never,
            is_ascii: drawing::is_ascii(),
        })
    }

    /// Draws it anew; nothing is drawn once it was left.
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
            let (is_coloured, is_ascii) = (self.is_coloured, self.is_ascii);
            let drawn = self.terminal.draw(|frame| {
                draw(frame, is_coloured);
                let cells = frame.buffer_mut().content.iter_mut().filter(|_| is_ascii);
                for cell in cells.filter(|cell| !cell.symbol().is_ascii()) {
                    let instead = drawing::in_ascii(cell.symbol());
                    cell.set_symbol(&instead);
                }
            });
            drawn.map_err(bad)?;
        }
        Ok(())
    }

    /// Redraws the whole screen next time: the terminal shows something else.
    pub(crate) fn forget(&mut self) {
        self.area = Rect::ZERO;
    }
}

/// The part of the terminal that is drawn.
fn area() -> io::Result<Rect> {
    let ((columns, lines), (most_columns, most_lines)) = (terminal::size()?, MOST);
    Ok(Rect::new(
        0,
        0,
        columns.min(most_columns),
        lines.min(most_lines),
    ))
}

/// Fills the terminal; it is as it was where that fails.
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

/// Gives the terminal back, where a screen fills it. A drawing is waited for.
pub(crate) fn leave() {
    let mut out = io::stdout().lock();
    IS_STOPPED.store(false, SeqCst);
    leave_to(&mut out);
}

fn leave_to(out: &mut impl Write) {
    if IS_OPEN.swap(false, SeqCst) {
        // A terminal that is gone needs nothing.
        drop(execute!(out, LeaveAlternateScreen, Show));
        drop(disable_raw_mode());
    }
}

/// Gives the terminal back before the program is stopped (SIGTSTP), and fills it again once it continues (SIGCONT), also after a
/// stop that nobody announced; then `redraw` is called.
///
/// # Errors
/// The signals cannot be waited for.
#[cfg(unix)]
pub(crate) fn follow_stops(mut redraw: impl FnMut() + Send + 'static) -> Result<()> {
    use signal_hook::consts::{SIGCONT, SIGTSTP};
    use signal_hook::low_level::emulate_default_handler;

    let mut signals = signal_hook::iterator::Signals::new([SIGTSTP, SIGCONT]).map_err(bad)?;
    let follow = move || {
        for signal in signals.forever() {
            let is_stop = signal == SIGTSTP;
            if is_stop {
                stop();
                // It stops here.
                drop(emulate_default_handler(signal));
            } else {
                go_on();
                redraw();
            }
        }
    };
    let thread = std::thread::Builder::new().name("stops".into());
    thread.spawn(follow).map(drop).map_err(bad)
}

#[cfg(unix)]
fn stop() {
    let mut out = io::stdout().lock();
    IS_STOPPED.fetch_or(IS_OPEN.load(SeqCst), SeqCst);
    leave_to(&mut out);
}

#[cfg(unix)]
fn go_on() {
    let mut out = io::stdout().lock();
    let is_open = IS_OPEN.load(SeqCst);
    if IS_STOPPED.swap(false, SeqCst) || is_open {
        // The shell has used the terminal meanwhile; if it is gone, the next drawing says so.
        leave_to(&mut out);
        drop(enter(&mut out));
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
