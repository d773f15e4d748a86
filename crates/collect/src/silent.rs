//! Servers that keep somebody waiting and do not answer: they are given up at once, whoever asks next, and tried again now and
//! then. A run waits for each of them once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use slotscope_engine::error::{Error, Result};
use slotscope_engine::sentence::Sentence;

/// A failure that took less was not waited for.
const LONG: Duration = Duration::from_millis(400);
/// A silent server is tried again after this.
const RETRY: Duration = Duration::from_secs(8);
/// How long it is waited for then.
const BRIEF: Duration = Duration::from_secs(1);

/// The silent servers of a run, by their names.
#[derive(Debug, Clone, Default)]
pub struct Silent(Arc<Mutex<HashMap<String, Silence>>>);

#[derive(Debug)]
struct Silence {
    what: Sentence,
    retry: Instant,
}

impl Silent {
    /// How long a server is waited for that is asked now.
    ///
    /// # Errors
    /// It did not answer a short while ago.
    pub(crate) fn patience(&self, place: &str, usual: Duration) -> Result<Duration> {
        let (mut known, now) = (self.lock(), Instant::now());
        match known.get_mut(place) {
            None => Ok(usual),
            Some(silence) if now < silence.retry => Err(Error::silent(place, silence.what.clone())),
            Some(silence) => {
                // Others do not wait as well.
                silence.retry = now + RETRY;
                Ok(usual.min(BRIEF))
            }
        }
    }

    /// The outcome of asking a server since `start`, which was waited for as long as `timeout` at most; noted for those who
    /// ask it next.
    pub(crate) fn noted<T>(
        &self,
        place: &str,
        (start, timeout): (Instant, Duration),
        outcome: Result<T>,
    ) -> Result<T> {
        match outcome {
            Err(Error::Silent { what, .. }) if start.elapsed() >= LONG.min(timeout) => {
                let retry = Instant::now() + RETRY;
                let mut known = self.lock();
                // The first time had the whole timeout.
                let silence = known
                    .entry(place.to_owned())
                    .or_insert(Silence { what, retry });
                silence.retry = retry;
                Err(Error::silent(place, silence.what.clone()))
            }
            Err(error @ Error::Silent { .. }) => Err(error),
            outcome => {
                self.lock().remove(place);
                outcome
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Silence>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const USUAL: Duration = Duration::from_secs(10);

    fn asked(silent: &Silent, outcome: Result<()>, took: Duration) -> Result<()> {
        let start = Instant::now().checked_sub(took).unwrap();
        silent.noted("h:1", (start, USUAL), outcome)
    }

    fn no_answer(what: &str) -> Result<()> {
        Err(Error::silent("h:1", what))
    }

    #[test]
    fn a_server_that_kept_somebody_waiting_is_given_up_until_it_answers() {
        let silent = Silent::default();
        assert_eq!(silent.patience("h:1", USUAL).unwrap(), USUAL);
        asked(&silent, no_answer("within 10 s"), USUAL).unwrap_err();
        let error = silent.patience("h:1", USUAL).unwrap_err();
        assert!(error.is_silence() && error.to_string() == "h:1: within 10 s");
        assert_eq!(silent.patience("h:2", USUAL).unwrap(), USUAL);
        asked(
            &silent,
            Err(Error::bad("h:1", "a password is needed")),
            BRIEF,
        )
        .unwrap_err();
        assert_eq!(silent.patience("h:1", USUAL).unwrap(), USUAL);
    }

    #[test]
    fn one_of_those_who_ask_tries_again_briefly_and_the_first_error_stays() {
        let silent = Silent::default();
        asked(&silent, no_answer("within 10 s"), USUAL).unwrap_err();
        silent.lock().get_mut("h:1").unwrap().retry = Instant::now();
        assert_eq!(silent.patience("h:1", USUAL).unwrap(), BRIEF);
        silent.patience("h:1", USUAL).unwrap_err();
        let error = asked(&silent, no_answer("within 1 s"), BRIEF).unwrap_err();
        assert_eq!(error.to_string(), "h:1: within 10 s");
    }

    #[test]
    fn a_failure_at_once_costs_nothing_and_is_not_kept() {
        let silent = Silent::default();
        asked(&silent, no_answer("nothing listens there"), Duration::ZERO).unwrap_err();
        assert_eq!(silent.patience("h:1", USUAL).unwrap(), USUAL);
    }
}
