//! The licence classes of identifiers: the table `[identifiers]` of the file (contract 23.1 to 23.4).

use std::collections::BTreeMap;

use figdex_index::{IdType, Visible};
use toml::Value;

use super::{Config, Sources};

/// The licence class of an idType: the callers who may see its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IdentifierClass {
    /// All callers see them.
    Open,
    /// Callers with an internal key see them.
    Internal,
    /// No caller sees them.
    Hidden,
}

/// The classes that an operator wrote. An idType without an entry is open, or internal under
/// `hide_identifiers`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IdentifierClasses(BTreeMap<IdType, IdentifierClass>);

impl IdentifierClass {
    const ALL: [Self; 3] = [Self::Open, Self::Internal, Self::Hidden];

    fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Internal => "internal",
            Self::Hidden => "hidden",
        }
    }
}

/// The idTypes that have an entry: each names a class.
fn licensed() -> impl Iterator<Item = IdType> {
    IdType::ALL.into_iter().filter(|id_type| id_type.licensed_as() == Some(*id_type))
}

/// The key of an idType in the file, in dotted form.
fn key(id_type: IdType) -> String {
    format!("identifiers.{}", id_type.name())
}

impl IdentifierClasses {
    /// The same classes, with one more entry.
    #[must_use]
    pub fn with(mut self, id_type: IdType, class: IdentifierClass) -> Self {
        self.0.insert(id_type, class);
        self
    }

    /// The class of an idType that names one.
    fn class(&self, id_type: IdType, hides_identifiers: bool) -> IdentifierClass {
        let default =
            if hides_identifiers { IdentifierClass::Internal } else { IdentifierClass::Open };
        self.0.get(&id_type).copied().unwrap_or(default)
    }

    /// The idTypes that a caller may see, with an internal key or not.
    pub(crate) fn visible(&self, hides_identifiers: bool, has_internal_key: bool) -> Visible {
        // Most servers have no classes, and each request comes here.
        if self.0.is_empty() && !hides_identifiers {
            return Visible::ALL;
        }
        Visible::without(|id_type| match self.class(id_type, hides_identifiers) {
            IdentifierClass::Open => false,
            IdentifierClass::Internal => !has_internal_key,
            IdentifierClass::Hidden => true,
        })
    }

    /// Reads the table `[identifiers]`.
    pub(super) fn read(sources: &mut Sources<'_>) -> Self {
        let mut classes = Self::default();
        for id_type in licensed() {
            sources.apply(&key(id_type), false, |text| {
                let class = IdentifierClass::ALL.into_iter().find(|class| class.name() == text);
                let class = class.ok_or_else(|| {
                    format!("invalid class `{text}`: expected `open`, `internal` or `hidden`")
                })?;
                classes.0.insert(id_type, class);
                Ok(())
            });
        }
        for id_type in IdType::ALL {
            let fault = match id_type.licensed_as() {
                Some(class) if class == id_type => continue,
                Some(class) => format!(
                    "it has the class of {}, which contains it: give {} a class in its place",
                    class.name(),
                    class.name()
                ),
                None => "every row shows it, so it is always open: leave it out".to_owned(),
            };
            sources.refuse(&key(id_type), &fault);
        }
        classes
    }

    /// The class of each idType, by its key in the file.
    pub(super) fn listed(config: &Config) -> impl Iterator<Item = (String, Value)> {
        let settings = &config.settings;
        licensed().map(|id_type| {
            let class = settings.identifiers.class(id_type, settings.hide_identifiers);
            (key(id_type), class.name().into())
        })
    }
}
