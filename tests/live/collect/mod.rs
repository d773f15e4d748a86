//! `slotscope collect`: its files agree with the replies of real servers.

mod bursts;
pub(crate) mod collected;
mod disturbed;
mod load;
mod same;
mod servers;
mod slow;
mod strays;
mod together;
