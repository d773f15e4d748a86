//! How network locations are opened. May contain secrets, so it is never serialized.

use slotscope_base::error::{Error, Result};
use slotscope_base::secret::Secret;
use slotscope_read::source::storage_options::StorageOptions;

#[cfg(feature = "cli")]
use crate::options::headings::OBJECTS;

/// How places on the network are opened.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[cfg_attr(feature = "cli", derive(clap::Args))]
pub struct StorageSpec {
    /// An option of an object store, such as aws_region=eu-west-1; may be repeated; secrets are better in the environment
    #[cfg_attr(
        feature = "cli",
        arg(long = "storage-option", value_name = "NAME=VALUE", value_parser = secret, help_heading = OBJECTS, hide_short_help = true)
    )]
    pub options: Vec<Secret>,
}

/// Accepts any value: an error message would repeat it.
#[cfg(feature = "cli")]
fn secret(text: &str) -> std::result::Result<Secret, std::convert::Infallible> {
    Ok(Secret::new(text))
}

impl StorageSpec {
    /// The options given by flags.
    ///
    /// # Errors
    /// An option is not a name with a value.
    pub fn options(&self) -> Result<StorageOptions> {
        let parsed = self.options.iter().map(|text| text.reveal().parse());
        let options = parsed.collect::<std::result::Result<_, &str>>();
        options
            .map(StorageOptions)
            .map_err(|reason| Error::option("storage-option", "", reason))
    }
}

/// Removes the flag's values from the words of a command line.
pub fn hide_values(words: &mut [Vec<u8>]) {
    const FLAG: &[u8] = b"--storage-option";
    let mut is_value = false;
    for word in words {
        let text = match word.strip_prefix(FLAG) {
            Some([b'=', text @ ..]) => text,
            _ if is_value => word.as_slice(),
            _ => &[],
        };
        let len = text.len();
        is_value = !is_value && word == FLAG;
        if len > 0 {
            let start = word.len() - len;
            let name = word[start..].iter().position(|byte| *byte == b'=');
            word.truncate(start + name.map_or(0, |at| at + 1));
            word.extend_from_slice(b"...");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_options_are_in_no_command_line() {
        let typed = "slotscope --storage-option a=hunter2=x --storage-option=b=hunter2 --storage-option hunter2 a=b";
        let mut words: Vec<Vec<u8>> = typed.split(' ').map(|word| word.into()).collect();
        hide_values(&mut words);
        assert_eq!(
            String::from_utf8(words.join(&b' ')).unwrap(),
            "slotscope --storage-option a=... --storage-option=b=... --storage-option ... a=b"
        );
    }

    #[test]
    fn what_is_no_option_is_refused_without_repeating_it() {
        let args = StorageSpec {
            options: vec![Secret::new("hunter2")],
        };
        let error = args.options().unwrap_err().to_string();
        assert!(error.contains("NAME=VALUE") && !error.contains("hunter2"));
    }
}
