//! One instrument with its family (contract 16.5), and the well-known one for examples (contract
//! 16.14).

use figdex_index::{Catalogue, Family, Fetched, Figi, Hit, Instrument, Meter};
use figdex_opensearch::Result as ClusterResult;

use super::answer::{Ask, Cluster, unanswered, unreadable};
use crate::callers::error::ApiError;

/// A question for the instrument with a FIGI, or for the rows whose share class or composite has it.
pub(crate) struct OneInstrument(pub(crate) Figi);

impl Ask for OneInstrument {
    /// The family, with the row and the instrument that have the FIGI themselves; `None` when no
    /// instrument has it in any of these ways.
    type Answer = Option<(Option<(Hit, Instrument)>, Family)>;

    fn here(&mut self, index: &Catalogue, _: &Meter) -> Result<Option<Self::Answer>, ApiError> {
        let found = match index.find(self.0) {
            Some(hit) => {
                let instrument = index.instrument(hit);
                let instrument =
                    instrument.map_err(unreadable("an instrument could not be read"))?;
                Some((Some((hit, instrument)), index.family(hit)))
            }
            None => index.find_kin(self.0).map(|kin| (None, index.family(kin))),
        };
        Ok(Some(found))
    }

    async fn there(&mut self, cluster: Cluster<'_>) -> Result<(Fetched, Self::Answer), ApiError> {
        self.fetch(cluster).await.map_err(unanswered)
    }
}

impl OneInstrument {
    async fn fetch(
        &self,
        Cluster { index, id, .. }: Cluster<'_>,
    ) -> ClusterResult<(Fetched, <Self as Ask>::Answer)> {
        if let Some(stored) = index.find(self.0, id).await? {
            let (rows, hit, family) = index.family(stored, id).await?;
            let instrument = rows.stored(hit).instrument();
            return Ok((rows, Some((Some((hit, instrument)), family))));
        }
        let Some(kin) = index.find_kin(self.0, id).await? else { return Ok(Default::default()) };
        let (rows, _, family) = index.family(kin, id).await?;
        Ok((rows, Some((None, family))))
    }
}

/// A question for an instrument that most people know.
pub(crate) struct Example;

impl Ask for Example {
    type Answer = Option<Instrument>;

    fn here(&mut self, index: &Catalogue, _: &Meter) -> Result<Option<Self::Answer>, ApiError> {
        let example = index.example().map(|hit| index.instrument(hit)).transpose();
        example.map(Some).map_err(unreadable("the example could not be read"))
    }

    async fn there(
        &mut self,
        Cluster { index, id, .. }: Cluster<'_>,
    ) -> Result<(Fetched, Self::Answer), ApiError> {
        let example = index.example(id).await.map_err(unanswered)?;
        Ok((Fetched::default(), example.map(|stored| stored.instrument())))
    }
}
