//! `slotscope collect`: what it writes is what real servers answer.

mod bursts;
mod collected;
mod disturbed;
mod load;
mod same;
mod servers;
mod slow;
