//! Sizes of test campaigns from the environment.

use std::ops::Div;
use std::str::FromStr;

/// The number in the variable `name`, or `otherwise` if it is not set. A typo fails rather than running the default.
pub fn size<T: FromStr>(name: &str, otherwise: T) -> T {
    let Some(text) = std::env::var_os(name) else {
        return otherwise;
    };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("{name}={} is not a number", text.display()))
}

/// The number of cases of a campaign: the variable `name`, or else a tenth of `whole` and at least one, or all of it
/// under `tests/campaign`.
pub fn cases<T: FromStr + Ord + Div<Output = T> + From<u8>>(name: &str, whole: T) -> T {
    let part = T::max(
        whole / T::from(if is_campaign() { 1 } else { 10 }),
        T::from(1),
    );
    size(name, part)
}

/// Whether `tests/campaign` runs.
pub fn is_campaign() -> bool {
    std::env::var_os("SLOTSCOPE_CAMPAIGN").is_some()
}
