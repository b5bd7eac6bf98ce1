//! The measurements as a picture (SVG): memory, and the latencies of each kind of request, over
//! time. A vertical line marks each published generation.

use std::fmt::Write as _;

use super::verdicts::mib;
use super::{Moment, Run};

/// The layout, in pixels.
const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 760.0;
const TOP: f64 = 40.0;
const HEIGHT: f64 = 220.0;
const GAP: f64 = 60.0;
const LEGEND_LINE: f64 = 15.0;

/// Colours that people with colour blindness can distinguish too (Okabe and Ito), and darker
/// variants of them for more than eight lines.
const COLOURS: [&str; 15] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a900",
    "#003f63", "#7a3600", "#00573f", "#73435d", "#805800", "#2f6482", "#bbbbbb",
];

/// A curve with its name; points are seconds and values.
type Curve<'a> = (&'a str, Vec<(f64, f64)>);

/// Draws the picture.
pub(super) fn svg(run: &Run) -> String {
    let curve = |value: &dyn Fn(&Moment) -> Option<f64>| {
        let points = run.moments.iter().map(|moment| Some((moment.seconds, value(moment)?)));
        points.flatten().collect::<Vec<_>>()
    };
    let anonymous = |moment: &Moment| Some(mib(moment.memory.anonymous));
    let all = |moment: &Moment| Some(mib(moment.memory.anonymous + moment.memory.mapped));
    let latencies = |percent| {
        let streams = run.streams.iter().enumerate().map(|(stream, (name, _))| {
            (name.as_str(), curve(&|moment| moment.answers[stream].percentile_ms(percent)))
        });
        let floor = ("the floor", curve(&|moment| moment.floor.percentile_ms(percent)));
        streams.chain([floor]).collect()
    };
    let panels: [(&str, bool, Vec<Curve<'_>>); 3] = [
        (
            "memory, MiB",
            false,
            vec![("anonymous", curve(&anonymous)), ("with mapped files", curve(&all))],
        ),
        ("p50, ms", true, latencies(50)),
        ("p99, ms", true, latencies(99)),
    ];
    let height = TOP + panels.len() as f64 * (HEIGHT + GAP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    for (place, (title, is_logarithmic, curves)) in panels.iter().enumerate() {
        let top = TOP + place as f64 * (HEIGHT + GAP);
        text(&mut out, LEFT, top - 10.0, "start", title);
        panel(&mut out, top, *is_logarithmic, curves, run);
    }
    out + "</svg>\n"
}

/// Draws one set of axes with its curves and their legend.
fn panel(out: &mut String, top: f64, is_logarithmic: bool, curves: &[Curve<'_>], run: &Run) {
    let bottom = top + HEIGHT;
    let seconds = run.moments.last().map_or(1.0, |moment| moment.seconds);
    let x = |at: f64| LEFT + at / seconds * (RIGHT - LEFT);
    let scale = |value: f64| if is_logarithmic { value.log10() } else { value };
    let marks = marks(curves, is_logarithmic);
    let (low, high) = (scale(marks[0]), scale(marks[marks.len() - 1]));
    let y = |value: f64| bottom - (scale(value) - low) / (high - low) * HEIGHT;
    for at in &run.published {
        line(out, [x(*at), top, x(*at), bottom], "#ddd");
    }
    for mark in &marks {
        line(out, [LEFT, y(*mark), RIGHT, y(*mark)], "#eee");
        text(out, LEFT - 6.0, y(*mark) + 4.0, "end", &format!("{mark}"));
    }
    for fifth in 0..=5 {
        let at = seconds * f64::from(fifth) / 5.0;
        text(out, x(at), bottom + 16.0, "middle", &format!("{:.1} min", at / 60.0));
    }
    line(out, [LEFT, bottom, RIGHT, bottom], "#888");
    for (place, (name, points)) in curves.iter().enumerate() {
        let colour = COLOURS[place % COLOURS.len()];
        let points = points.iter().map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(*value)));
        let points = points.collect::<Vec<_>>().join(" ");
        writeln!(
            out,
            "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.2\"/>"
        )
        .expect("writing into memory does not fail");
        let height = top + 6.0 + place as f64 * LEGEND_LINE;
        line(out, [RIGHT + 10.0, height, RIGHT + 26.0, height], colour);
        text(out, RIGHT + 32.0, height + 4.0, "start", name);
    }
}

/// The marked values of the vertical axis, from its lowest to its highest: powers of ten, or
/// fifths of a round number.
fn marks(curves: &[Curve<'_>], is_logarithmic: bool) -> Vec<f64> {
    let values = || curves.iter().flat_map(|(_, points)| points).map(|(_, value)| *value);
    let most = values().fold(f64::MIN_POSITIVE, f64::max);
    if is_logarithmic {
        let least = values().fold(most, f64::min);
        let (first, last) = (least.log10().floor() as i32, most.log10().ceil() as i32);
        return (first..=last.max(first + 1)).map(|power| 10f64.powi(power)).collect();
    }
    let step = 10f64.powf(most.log10().floor());
    let most = (most / step).ceil() * step;
    (0..=5).map(|fifth| most * f64::from(fifth) / 5.0).collect()
}

fn line(out: &mut String, [x1, y1, x2, y2]: [f64; 4], colour: &str) {
    writeln!(
        out,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\"/>"
    )
    .expect("writing into memory does not fail");
}

fn text(out: &mut String, x: f64, y: f64, anchor: &str, text: &str) {
    writeln!(out, "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{text}</text>")
        .expect("writing into memory does not fail");
}
