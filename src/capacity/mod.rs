pub(crate) mod budget;
pub(crate) mod pool;
