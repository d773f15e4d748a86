//! Progress on standard error: a bar on a terminal, otherwise a line every few seconds if the user asks for it.

use std::io::{self, IsTerminal, Write};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::pipeline::reading::{OnProgress, Progress};

/// Interval between lines, without a terminal.
pub const PAUSE: Duration = Duration::from_secs(2);

/// When progress is shown.
#[derive(ValueEnum, Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum When {
    /// Where standard error is a terminal
    #[default]
    Auto,
    /// Elsewhere too, line by line
    Always,
    /// Not at all
    Never,
}

impl When {
    /// Where bars are drawn.
    pub fn target(self) -> ProgressDrawTarget {
        match self {
            When::Never => ProgressDrawTarget::hidden(),
            When::Auto | When::Always => ProgressDrawTarget::stderr(),
        }
    }

    /// Whether progress is printed in lines.
    pub fn is_by_line(self) -> bool {
        self == When::Always && !io::stderr().is_terminal()
    }
}

/// A hook that moves the bars of a run: one per pass, one after the other.
pub fn hook(when: When) -> OnProgress {
    let current = Mutex::<Option<Bar>>::default();
    Arc::new(move |progress: Progress| {
        let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
        current
            .get_or_insert_with(|| Bar::new(when, progress.pass, progress.total_bytes))
            .advance(progress.more_bytes);
        if progress.is_done {
            *current = None;
        }
        true
    })
}

struct Bar {
    bar: ProgressBar,
    title: &'static str,
    /// The time of the last line, if progress is printed in lines.
    last_line: Option<Instant>,
}

impl Bar {
    fn new(when: When, title: &'static str, total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{msg} {bytes}, {bytes_per_sec}",
        };
        let style =
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = ProgressBar::with_draw_target(total, when.target())
            .with_style(style.progress_chars("█░"))
            .with_message(title);
        Bar {
            bar,
            title,
            last_line: when.is_by_line().then(Instant::now),
        }
    }

    fn advance(&mut self, bytes: u64) {
        self.bar.inc(bytes);
        if self.last_line.is_some_and(|last| last.elapsed() >= PAUSE) {
            self.last_line = Some(Instant::now());
            self.write_line();
        }
    }

    fn write_line(&self) {
        let (done, elapsed) = (self.bar.position(), self.bar.elapsed());
        let remaining = self.bar.length().map_or(String::new(), |total| {
            let left = elapsed.mul_f64(total.saturating_sub(done) as f64 / done.max(1) as f64);
            format!(" of {}, {} left", HumanBytes(total), HumanDuration(left))
        });
        let rate = HumanBytes((done as f64 / elapsed.as_secs_f64().max(1e-9)) as u64);
        // Ignore a closed standard error.
        drop(writeln!(
            io::stderr(),
            "slotscope: {} {}{remaining}, {rate}/s",
            self.title,
            HumanBytes(done)
        ));
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        if self.last_line.is_some() {
            self.write_line();
        }
        self.bar.finish_and_clear();
    }
}
