//! The lines of requests, written by hand: each answer waits for its line, and the
//! library's own formats take a third of all that it costs to answer for one FIGI. They say
//! the same; only colours are missing.

use std::fmt::{self, Debug};

use jiff::Timestamp;
use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::fmt::format::{FormatFields, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent};
use tracing_subscriber::registry::LookupSpan;

use super::ACCESS;

/// What stands around the parts of a line.
pub(super) struct Shape {
    before_time: &'static str,
    after_time: &'static str,
    before_name: &'static str,
    after_name: &'static str,
    /// Of a text.
    quote: &'static str,
    names_message: bool,
    end: &'static str,
}

pub(super) static HUMAN: Shape = Shape {
    before_time: "",
    after_time: "  INFO figdex::access:",
    before_name: " ",
    after_name: "=",
    quote: "",
    names_message: false,
    end: "\n",
};

pub(super) static JSON: Shape = Shape {
    before_time: "{\"timestamp\":\"",
    after_time: "\",\"level\":\"INFO\"",
    before_name: ",\"",
    after_name: "\":",
    quote: "\"",
    names_message: true,
    end: ",\"target\":\"figdex::access\"}\n",
};

/// Writes the lines of requests in a shape, and leaves all others to another format.
pub(super) struct Access<F> {
    pub(super) shape: &'static Shape,
    pub(super) others: F,
}

impl<S, N, F> FormatEvent<S, N> for Access<F>
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
    F: FormatEvent<S, N>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut out: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        if event.metadata().target() != ACCESS {
            return self.others.format_event(context, out, event);
        }
        let shape = self.shape;
        out.write_str(shape.before_time)?;
        write!(out, "{:.6}", Timestamp::now())?;
        out.write_str(shape.after_time)?;
        let mut fields = Fields { shape, out, written: Ok(()) };
        event.record(&mut fields);
        fields.written.and_then(|()| fields.out.write_str(shape.end))
    }
}

/// Writes fields, whose texts need no escapes: the name of a method that is known, a
/// route's template, an id's letters, digits and signs.
struct Fields<'a> {
    shape: &'static Shape,
    out: Writer<'a>,
    written: fmt::Result,
}

impl Fields<'_> {
    fn field(&mut self, field: &Field, quote: &str, value: fmt::Arguments<'_>) {
        if self.written.is_ok() {
            self.written = self.write(field.name(), quote, value);
        }
    }

    fn write(&mut self, name: &str, quote: &str, value: fmt::Arguments<'_>) -> fmt::Result {
        self.out.write_str(self.shape.before_name)?;
        if name != "message" || self.shape.names_message {
            self.out.write_str(name)?;
            self.out.write_str(self.shape.after_name)?;
        }
        self.out.write_str(quote)?;
        self.out.write_fmt(value)?;
        self.out.write_str(quote)
    }
}

impl Visit for Fields<'_> {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.field(field, "", format_args!("{value}"));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.field(field, "", format_args!("{value:?}"));
    }

    /// The message, and what is told as it is shown.
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        self.field(field, self.shape.quote, format_args!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write};
    use std::sync::Arc;

    use parking_lot::Mutex;
    use tracing::Dispatch;
    use tracing_subscriber::fmt;
    use tracing_subscriber::fmt::format::{Format, JsonFields};

    use super::*;
    use crate::log::json;

    /// Where lines are kept.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What a log has of a request and of something else, each digit as a 0: times differ.
    fn lines(log: impl FnOnce(Kept) -> Dispatch) -> String {
        let kept = Kept::default();
        tracing::dispatcher::with_default(&log(kept.clone()), || {
            let (method, route, elapsed_us) = ("POST", "/v3/mapping", 31_u64);
            tracing::info!(target: ACCESS, method, %route, elapsed_us, "answered");
            tracing::info!(file = "a \"b\"", "something else");
        });
        let text = String::from_utf8(kept.0.lock().clone()).unwrap();
        text.replace(|sign: char| sign.is_ascii_digit(), "0")
    }

    /// What reads the log sees no difference.
    #[test]
    fn as_the_library_writes_them() {
        let log = || fmt().with_ansi(false);
        let library = lines(|kept| log().with_writer(move || kept.clone()).into());
        let ours = lines(|kept| {
            let access = Access { shape: &HUMAN, others: Format::default() };
            log().event_format(access).with_writer(move || kept.clone()).into()
        });
        assert_eq!(ours, library);
        assert_eq!(ours.lines().count(), 2, "{ours}");

        let log = || fmt().fmt_fields(JsonFields::new());
        let library =
            lines(|kept| log().event_format(json()).with_writer(move || kept.clone()).into());
        let ours = lines(|kept| {
            let access = Access { shape: &JSON, others: json() };
            log().event_format(access).with_writer(move || kept.clone()).into()
        });
        assert_eq!(ours, library);
        assert_eq!(ours.lines().count(), 2, "{ours}");
    }
}
