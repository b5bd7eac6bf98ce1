//! Promise 6: counting, against tantivy's `Count` over the same terms and fast fields.

use figdex_index::{Catalogue, Filters, Meter, NumberInterval, Property, Search};
use tantivy::collector::Count;
use tantivy::query::{BooleanQuery, Occur, Query, RangeQuery, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{Index, ReloadPolicy, Searcher, Term};

use crate::Scale;
use crate::alone::{self, Identifiers};
use crate::side_by_side::{self, Way};

/// Of one turn, so that the clock's grain does not matter.
const TIMES: usize = 20;

/// Values that many rows have.
const DENSE: [(Property, &str); 3] = [
    (Property::SecurityType2, "Option"),
    (Property::Currency, "USD"),
    (Property::OptionType, "Put"),
];

const STRIKES: (f64, f64) = (50.0, 150.0);

pub(crate) fn measure(scale: &Scale) {
    let dump = scale.json_lines();
    let [ours, theirs] = [(); 2].map(|()| tempfile::tempdir().expect("a folder for an index"));
    scale.publish(&dump, ours.path());
    alone::index(&dump, theirs.path(), Identifiers::None);
    drop(dump);
    let catalogue = Catalogue::open(ours.path()).expect("the index that was built");
    let index = Index::open_in_dir(theirs.path()).expect("the index that was built");
    let reader = index.reader_builder().reload_policy(ReloadPolicy::Manual).try_into();
    let searcher = reader.expect("a reader").searcher();
    for (values, strikes, at_least) in
        [(2, None, 30.0), (3, None, 30.0), (0, Some(STRIKES), 3.0), (2, Some(STRIKES), 3.0)]
    {
        let asked = &DENSE[..values];
        let search = search(&catalogue, asked, strikes);
        let query = query(&searcher, asked, strikes);
        let expected = searcher.search(&*query, &Count).expect("an index that is there") as u64;
        println!("  {values} values{}: {expected} rows", strikes.map_or("", |_| " and strikes"));
        let mut ways: [Way<'_>; 2] = [
            (
                "tantivy's Count",
                Box::new(|| {
                    for _ in 0..TIMES {
                        let count = searcher.search(&*query, &Count);
                        assert_eq!(count.expect("an index that is there") as u64, expected);
                    }
                }),
            ),
            (
                "counted anew",
                Box::new(|| {
                    for _ in 0..TIMES {
                        let count = catalogue.count_anew(&search, &Meter::unlimited());
                        assert_eq!(count.expect("an index that is there"), Some(expected));
                    }
                }),
            ),
        ];
        let times = side_by_side::measure(scale.rounds, &mut ways);
        side_by_side::tell("6, tantivy / counted anew", times[0], times[1], at_least);
    }
}

fn search(
    catalogue: &Catalogue,
    values: &[(Property, &str)],
    strikes: Option<(f64, f64)>,
) -> Search {
    let strike = strikes.and_then(|(low, high)| NumberInterval::new(Some(low), Some(high)).ok());
    let mut filters = Filters { strike, include_unlisted_equities: true, ..Filters::default() };
    for (property, value) in values {
        let known = catalogue.vocabulary().admit(*property, value);
        filters.known.require(known.expect("the universe has it"));
    }
    Search { keywords: None, filters }
}

fn query(
    searcher: &Searcher,
    values: &[(Property, &str)],
    strikes: Option<(f64, f64)>,
) -> Box<dyn Query> {
    let field = |name: &str| searcher.schema().get_field(name).expect("a field for each property");
    let terms = values.iter().map(|(property, value)| -> Box<dyn Query> {
        let term = Term::from_field_text(field(property.field_name()), value);
        Box::new(TermQuery::new(term, IndexRecordOption::Basic))
    });
    let range = strikes.map(|(low, high)| -> Box<dyn Query> {
        let bound =
            |number| std::ops::Bound::Included(Term::from_field_f64(field("strike"), number));
        Box::new(RangeQuery::new(bound(low), bound(high)))
    });
    let clauses = terms.chain(range).map(|clause| (Occur::Must, clause));
    Box::new(BooleanQuery::new(clauses.collect()))
}
