//! The bounds on memory and work that all requests share: budgets of bytes, and pools of threads.

pub(crate) mod budget;
pub(crate) mod pool;
mod queue;
