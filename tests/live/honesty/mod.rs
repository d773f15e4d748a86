//! Inputs that are not key dumps are rejected with a suggested command, and never counted; doubts are reported.

mod doubtful;
mod refused;
mod replies;

use slotscope::detect::not_a_dump::{LINE_FORMS, NotADump, REPLIES, SIGNATURES};

fn refusals() -> impl Iterator<Item = &'static NotADump> {
    SIGNATURES.iter().chain(REPLIES).chain(LINE_FORMS)
}
