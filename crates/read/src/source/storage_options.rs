//! Options for opening network locations, by their names in the object_store crate. Their values may be secrets.

use std::fmt;
use std::str::FromStr;

use slotscope_base::secret::Secret;

/// Options of an object store in the given order; later ones override earlier ones.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StorageOptions(pub Vec<StorageOption>);

/// An option and its value.
#[derive(Clone, PartialEq, Eq)]
pub struct StorageOption {
    /// Its name in lower case, such as `aws_region`.
    pub name: String,
    /// Its value, never printed.
    pub value: Secret,
}

impl fmt::Debug for StorageOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}={:?}", self.name, self.value)
    }
}

impl FromStr for StorageOption {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        // The message must not repeat the text, which may contain a secret.
        let (name, value) = text
            .split_once('=')
            .filter(|(name, _)| is_name(name))
            .ok_or("an option is NAME=VALUE, such as aws_region=eu-west-1")?;
        Ok(StorageOption {
            name: name.to_ascii_lowercase(),
            value: Secret::new(value),
        })
    }
}

fn is_name(text: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    !text.is_empty() && text.bytes().all(is_of_name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_option_has_a_name_and_hides_its_value() {
        let option: StorageOption = "AWS_Secret_Access_Key=hunter2=".parse().unwrap();
        assert_eq!(option.name, "aws_secret_access_key");
        assert_eq!(option.value.reveal(), "hunter2=");
        assert!(!format!("{option:?}").contains("hunter2"));
        for text in ["hunter2", "=hunter2", "a b=hunter2", ""] {
            let error = text.parse::<StorageOption>().unwrap_err();
            assert!(!error.contains("hunter2"), "{error}");
        }
    }
}
