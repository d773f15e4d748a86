//! How far a scan is, on standard error: a bar on a terminal, a line every few seconds elsewhere, where one asks for it.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use indicatif::{HumanBytes, HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Between two lines where there is no terminal.
const PAUSE: Duration = Duration::from_secs(2);

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

/// The progress of one scan.
pub struct Progress {
    bar: ProgressBar,
    title: &'static str,
    /// When the last line was written, where it goes line by line.
    last_line: Option<Mutex<Instant>>,
}

impl Progress {
    /// Of a scan of `total` bytes, as far as that is known.
    pub fn new(when: When, title: &'static str, total: Option<u64>) -> Self {
        let template = match total {
            Some(_) => "{msg} {wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}, {eta} left",
            None => "{msg} {bytes}, {bytes_per_sec}",
        };
        let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar());
        let target = if when == When::Never { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(total, target).with_style(style).with_message(title);
        let by_line = when == When::Always && !io::stderr().is_terminal();
        Progress { bar, title, last_line: by_line.then(|| Mutex::new(Instant::now())) }
    }

    /// So many bytes more are done.
    pub fn advance(&self, bytes: u64) {
        self.bar.inc(bytes);
        if let Some(last) = &self.last_line {
            let mut last = last.lock().unwrap_or_else(PoisonError::into_inner);
            if last.elapsed() >= PAUSE {
                *last = Instant::now();
                self.write_line();
            }
        }
    }

    /// The scan is over.
    pub fn finish(self) {
        if self.last_line.is_some() {
            self.write_line();
        }
        self.bar.finish_and_clear();
    }

    fn write_line(&self) {
        let (done, elapsed) = (self.bar.position(), self.bar.elapsed());
        let of = self.bar.length().map_or(String::new(), |total| {
            let left = elapsed.mul_f64(total.saturating_sub(done) as f64 / done.max(1) as f64);
            format!(" of {}, {} left", HumanBytes(total), HumanDuration(left))
        });
        let rate = HumanBytes((done as f64 / elapsed.as_secs_f64().max(1e-9)) as u64);
        // Nobody may be there to read it.
        drop(writeln!(io::stderr(), "slotscope: {} {}{of}, {rate}/s", self.title, HumanBytes(done)));
    }
}
