//! Servers that do not answer: after one timeout, all others fail immediately, and the server is retried occasionally.
//! A run waits for each of them only once.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use slotscope_base::error::{Error, Result};
use slotscope_base::sentence::Sentence;

/// Faster failures did not involve waiting.
const LONG: Duration = Duration::from_millis(400);
/// The retry interval of a server that does not answer.
const RETRY: Duration = Duration::from_secs(8);
/// The timeout of a retry.
const BRIEF: Duration = Duration::from_secs(1);

/// A run's servers that do not answer, by name.
#[derive(Debug, Clone, Default)]
pub struct Silent(Arc<Mutex<HashMap<String, Silence>>>);

#[derive(Debug)]
struct Silence {
    why: Sentence,
    retry: Instant,
}

impl Silent {
    /// The timeout for asking a server now.
    ///
    /// # Errors
    /// The server did not answer a short while ago.
    pub(crate) fn patience(&self, place: &str, usual: Duration) -> Result<Duration> {
        let (mut silences, now) = (self.lock(), Instant::now());
        match silences.get_mut(place) {
            None => Ok(usual),
            Some(silence) if now < silence.retry => Err(Error::silent(place, silence.why.clone())),
            Some(silence) => {
                // Only this caller retries; others do not wait as well.
                silence.retry = now + RETRY;
                Ok(usual.min(BRIEF))
            }
        }
    }

    /// Records the outcome of asking a server since `start` with at most `timeout`, for those who ask it next.
    pub(crate) fn noted<T>(
        &self,
        place: &str,
        (start, timeout): (Instant, Duration),
        outcome: Result<T>,
    ) -> Result<T> {
        match outcome {
            Err(Error::Silent { what, .. }) if start.elapsed() >= LONG.min(timeout) => {
                let retry = Instant::now() + RETRY;
                let mut silences = self.lock();
                // The first attempt had the whole timeout.
                let silence = silences
                    .entry(place.to_owned())
                    .or_insert(Silence { why: what, retry });
                silence.retry = retry;
                Err(Error::silent(place, silence.why.clone()))
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
