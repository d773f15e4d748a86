//! `slotscope collect`: what it writes is what real servers answer.

mod collected;
mod disturbed;
mod load;
mod same;
mod servers;
