pub mod index;
pub mod settings;
