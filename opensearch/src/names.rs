//! The names of a cluster's indexes. `NAME`, from the address, is an alias of the published
//! generation. Each generation is an index `NAME-000007`, which never changes once it is published.

/// The fewest digits of the number of a generation.
const DIGITS: usize = 6;

/// The index of a generation.
pub(crate) fn index(name: &str, generation: u64) -> String {
    format!("{name}-{generation:0DIGITS$}")
}

/// The number of the generation in an index; `None` for an index of another name.
pub(crate) fn generation(name: &str, index: &str) -> Option<u64> {
    let number = index.strip_prefix(name)?.strip_prefix('-')?.parse().ok()?;
    (self::index(name, number) == index).then_some(number)
}

/// The pattern of all indexes that begin like a generation of this name.
pub(crate) fn pattern(name: &str) -> String {
    format!("{name}-*")
}

/// The alias of an index while it is being filled. Documents are sent only to this alias. A cluster
/// creates unknown indexes, but not for a request that requires an alias. So an index that another
/// program removed is not created again. No address has such a name.
pub(crate) fn filling(index: &str) -> String {
    format!("{index}~filling")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_and_its_number() {
        for number in [1, 999_999, 1_000_000] {
            assert_eq!(generation("a-b", &index("a-b", number)), Some(number));
        }
        for other in
            ["a", "a-", "a-1", "a-0000001", "a-00000x", "b-000001", "a-b-000001", "a000001"]
        {
            assert_eq!(generation("a", other), None, "{other}");
        }
    }
}
