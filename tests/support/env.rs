//! Sizes of test campaigns from the environment.

use std::str::FromStr;

/// The number in the variable `name`; `otherwise` where it is not set. A typo fails rather than running the default.
pub fn size<T: FromStr>(name: &str, otherwise: T) -> T {
    let Some(text) = std::env::var_os(name) else {
        return otherwise;
    };
    let number = text.to_str().and_then(|text| text.parse().ok());
    number.unwrap_or_else(|| panic!("{name}={} is not a number", text.display()))
}
