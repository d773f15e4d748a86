//! Amounts of keys, in a column of a data frame: whole numbers, or unknown.

use std::fmt::Display;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{Array, ArrayRef, downcast_integer_array};
use arrow_schema::DataType;
use pyo3::prelude::*;

use crate::arrow::{Held, Offered, offered};
use crate::error::bad;
use crate::keys::is_null;

/// An amount that is not known.
const UNKNOWN: u64 = u64::MAX;

impl Held for ArrayRef {
    const CAST: &str = "numbers";

    fn is_in(data_type: &DataType) -> bool {
        use DataType::{Float32, Float64, Null};
        data_type.is_integer() || matches!(data_type, Float32 | Float64 | Null)
    }

    fn of(column: &ArrayRef) -> PyResult<Self> {
        Ok(column.clone())
    }
}

/// The amounts of all keys.
#[derive(Debug)]
pub(crate) struct Amounts {
    /// The name of their column.
    name: String,
    values: Vec<u64>,
}

impl Amounts {
    /// The amounts in `column`, which is called `name`.
    pub(crate) fn of(name: String, column: &Bound<'_, PyAny>) -> PyResult<Self> {
        let offer = offered::<ArrayRef>(column, &name)?;
        let mut read = Amounts {
            name,
            values: Vec::new(),
        };
        match offer {
            Some(Offered::Arrays(arrays)) => {
                arrays.iter().try_for_each(|array| read.add_array(array))
            }
            Some(Offered::Stream(mut stream)) => {
                while let Some(array) = stream.next()? {
                    read.add_array(&array)?;
                }
                Ok(())
            }
            None => column
                .try_iter()?
                .try_for_each(|amount| read.add_object(&amount?)),
        }?;
        Ok(read)
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.values.len()
    }

    /// That of key `i`; `None` if it is not known.
    pub(crate) fn get(&self, i: usize) -> Option<u64> {
        let value = self.values.get(i).copied();
        value.filter(|value| *value != UNKNOWN)
    }

    /// Checks that there is one for each of `keys`.
    pub(crate) fn check(&self, keys: usize) -> PyResult<()> {
        if self.len() == keys {
            return Ok(());
        }
        let reason = format!("{} rows, and {keys} keys", self.len());
        Err(bad(self.name.as_str(), reason))
    }

    fn add_array(&mut self, array: &ArrayRef) -> PyResult<()> {
        let array: &dyn Array = array.as_ref();
        self.values.reserve(array.len());
        downcast_integer_array!(
            array => array.iter().try_for_each(|value| self.add(value, value.and_then(integer))),
            DataType::Null => (0..array.len()).try_for_each(|_| self.add(None::<u64>, None)),
            DataType::Float32 => array.as_primitive::<Float32Type>().iter().try_for_each(|value| {
                let value = value.map(f64::from).filter(|value| !value.is_nan());
                self.add(value, value.and_then(whole))
            }),
            _ => array.as_primitive::<Float64Type>().iter().try_for_each(|value| {
                let value = value.filter(|value| !value.is_nan());
                self.add(value, value.and_then(whole))
            }),
        )
    }

    fn add_object(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        if is_null(value) {
            return self.add(None::<u64>, None);
        }
        let real = || value.extract::<f64>().ok().and_then(whole);
        let amount = value.extract::<u64>().ok().or_else(real);
        self.add(Some(value.repr()?), amount)
    }

    /// Adds `amount`, the number that `value` spells.
    fn add(&mut self, value: Option<impl Display>, amount: Option<u64>) -> PyResult<()> {
        let known = amount.filter(|amount| *amount != UNKNOWN);
        self.values.push(match (value, known) {
            (None, _) => UNKNOWN,
            (Some(_), Some(known)) => known,
            (Some(value), None) => {
                let place = format!("{}, row {}", self.name, self.len());
                let reason =
                    "amounts are whole numbers from 0 on; multiply or round the column first";
                return Err(bad(place, format!("{value}: {reason}")));
            }
        });
        Ok(())
    }
}

fn integer(value: impl TryInto<u64>) -> Option<u64> {
    value.try_into().ok()
}

fn whole(value: f64) -> Option<u64> {
    let is_whole = value.fract() == 0.0 && (0.0..2f64.powi(64)).contains(&value);
    is_whole.then_some(value as u64)
}
