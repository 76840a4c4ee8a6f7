//! `Serialize` and `Deserialize` of the statistics of a column.
//!
//! Without missing values, the form is the one from before there were any. Statistics with missing values have one more
//! field in human-readable formats, whose name older libraries reject. In binary formats, which may not store the
//! number of fields, NaN in the place of the minimum stands for two more fields at the end. Older libraries reject that
//! minimum.

use std::fmt;

use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde::ser::{Serialize, SerializeStruct, Serializer};

use super::ColumnStatistics;
use crate::serde::numbers::Number;
use crate::statistics::double::Double;

const NAME: &str = "ColumnStatistics";

/// The fields, with those of statistics with missing values at the end.
const FIELDS: &[&str] = &[
    "finite",
    "nan",
    "positive_infinities",
    "negative_infinities",
    "minimum",
    "maximum",
    "sum",
    "centered",
    "propagates_nan",
    "least",
    "missing",
];

/// Fields with names.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    finite: u64,
    nan: u64,
    positive_infinities: u64,
    negative_infinities: u64,
    minimum: Number,
    maximum: Number,
    sum: Double,
    centered: Double,
    propagates_nan: bool,
    /// The minimum, if NaN is in its place.
    least: Option<Number>,
    #[serde(default)]
    missing: u64,
}

impl Serialize for ColumnStatistics {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let is_marked = self.missing > 0 && !serializer.is_human_readable();
        let count = FIELDS.len() - 2 + usize::from(is_marked) + usize::from(self.missing > 0);
        let mut fields = serializer.serialize_struct(NAME, count)?;
        fields.serialize_field("finite", &self.finite)?;
        fields.serialize_field("nan", &self.nan)?;
        fields.serialize_field("positive_infinities", &self.positive_infinities)?;
        fields.serialize_field("negative_infinities", &self.negative_infinities)?;
        fields.serialize_field("minimum", &Number(if is_marked { f64::NAN } else { self.minimum }))?;
        fields.serialize_field("maximum", &Number(self.maximum))?;
        fields.serialize_field("sum", &self.sum)?;
        fields.serialize_field("centered", &self.centered)?;
        fields.serialize_field("propagates_nan", &self.propagates_nan)?;
        if is_marked {
            fields.serialize_field("least", &Number(self.minimum))?;
        }
        if self.missing > 0 {
            fields.serialize_field("missing", &self.missing)?;
        }
        fields.end()
    }
}

/// Refuses statistics that no values can have.
impl<'de> Deserialize<'de> for ColumnStatistics {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_struct(NAME, FIELDS, Statistics)
    }
}

struct Statistics;

impl<'de> Visitor<'de> for Statistics {
    type Value = ColumnStatistics;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("struct ColumnStatistics")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut fields: A) -> Result<ColumnStatistics, A::Error> {
        let (finite, nan, positive_infinities, negative_infinities, minimum, maximum, sum, centered, propagates_nan) =
            Deserialize::deserialize(SeqAccessDeserializer::new(&mut fields))?;
        let Number(found) = minimum;
        let (mut least, mut missing) = (None, 0);
        if found.is_nan() {
            let absent = |count: usize| de::Error::invalid_length(count, &"11 fields");
            least = Some(fields.next_element()?.ok_or_else(|| absent(9))?);
            missing = fields.next_element()?.ok_or_else(|| absent(10))?;
        }
        let named = Named {
            finite,
            nan,
            positive_infinities,
            negative_infinities,
            minimum,
            maximum,
            sum,
            centered,
            propagates_nan,
            least,
            missing,
        };
        named.check().map_err(de::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, fields: A) -> Result<ColumnStatistics, A::Error> {
        Named::deserialize(MapAccessDeserializer::new(fields))?.check().map_err(de::Error::custom)
    }
}

impl Named {
    /// Checks deserialized statistics.
    fn check(self) -> Result<ColumnStatistics, &'static str> {
        let Self { finite, nan, positive_infinities, negative_infinities, sum, centered, propagates_nan, .. } = self;
        let missing = self.missing;
        let others = ColumnStatistics {
            nan,
            missing,
            positive_infinities,
            negative_infinities,
            propagates_nan,
            ..ColumnStatistics::EMPTY
        };
        let (Number(minimum), Number(maximum)) = (self.least.unwrap_or(self.minimum), self.maximum);
        let found = ColumnStatistics { finite, minimum, maximum, sum, centered, ..others };
        let are_extremes = minimum.is_finite() && maximum.is_finite() && minimum <= maximum;
        match finite {
            _ if found.value_count().is_none() => Err("a column has more values than can be counted"),
            _ if self.least.is_some() && missing == 0 => Err("a column without missing values has two minima"),
            0 if found != others => Err("a column without finite values has sums or extremes"),
            1.. if !are_extremes => Err("the extremes of a column cannot be values of the column"),
            _ if !sum.is_sum() => Err("the sum of a column is larger than any sum of values"),
            _ if centered.is_negative() => Err("the squared deviations of a column are negative"),
            _ => Ok(found),
        }
    }
}
