//! The run as a picture (SVG): memory, and the latencies of each kind of request, over time.
//! Where a generation was published stands a line through all panels.

use std::fmt::Write as _;

use super::Run;
use super::judge::mib;

/// Where the panels stand, in pixels.
const WIDTH: f64 = 960.0;
const LEFT: f64 = 70.0;
const RIGHT: f64 = 200.0;
const TOP: f64 = 40.0;
const HEIGHT: f64 = 220.0;
const GAP: f64 = 60.0;

/// Between two lines of a legend.
const LINE: f64 = 15.0;

/// Colours that are told apart, also by people who see fewer (Okabe and Ito), and darker
/// ones of them for more than eight lines.
const COLOURS: [&str; 15] = [
    "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#b8a900",
    "#003f63", "#7a3600", "#00573f", "#73435d", "#805800", "#2f6482", "#bbbbbb",
];

/// A line over time.
struct Curve<'a> {
    name: &'a str,
    points: Vec<(f64, f64)>,
}

/// A set of axes.
struct Panel<'a> {
    title: &'a str,
    curves: Vec<Curve<'a>>,
    /// Whether the upright axis is logarithmic; then it starts above 0.
    is_logarithmic: bool,
}

/// The picture.
pub(super) fn svg(run: &Run) -> String {
    let over_time = |value: &dyn Fn(&super::Moment) -> Option<f64>| {
        let points = run.moments.iter().map(|moment| Some((moment.seconds, value(moment)?)));
        points.flatten().collect()
    };
    let memory = vec![
        Curve {
            name: "own (anonymous)",
            points: over_time(&|moment| Some(mib(moment.memory.anonymous))),
        },
        Curve {
            name: "with mapped files",
            points: over_time(&|moment| Some(mib(moment.memory.anonymous + moment.memory.mapped))),
        },
    ];
    let latencies = |percent| {
        let streams = run.streams.iter().enumerate();
        let mut curves: Vec<_> = streams
            .map(|(stream, (name, _))| Curve {
                name,
                points: over_time(&|moment| moment.seen[stream].percentile_ms(percent)),
            })
            .collect();
        curves.push(Curve {
            name: "the floor",
            points: over_time(&|moment| moment.floor.percentile_ms(percent)),
        });
        curves
    };
    let panels = [
        Panel { title: "memory, MiB", curves: memory, is_logarithmic: false },
        Panel { title: "p50, ms", curves: latencies(50), is_logarithmic: true },
        Panel { title: "p99, ms", curves: latencies(99), is_logarithmic: true },
    ];
    let height = TOP + panels.len() as f64 * (HEIGHT + GAP);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"sans-serif\" font-size=\"11\">\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" fill=\"#fff\"/>\n"
    );
    let seconds = run.moments.last().map_or(1.0, |moment| moment.seconds);
    for (place, panel) in panels.iter().enumerate() {
        let top = TOP + place as f64 * (HEIGHT + GAP);
        panel.draw(&mut out, top, seconds, &run.published);
    }
    out + "</svg>\n"
}

impl Panel<'_> {
    fn draw(&self, out: &mut String, top: f64, seconds: f64, published: &[f64]) {
        let [least, most] = self.range();
        let (bottom, right) = (top + HEIGHT, WIDTH - RIGHT);
        let x = |at: f64| LEFT + at / seconds * (right - LEFT);
        let scale = |value: f64| if self.is_logarithmic { value.log10() } else { value };
        let y = |value: f64| {
            bottom - (scale(value) - scale(least)) / (scale(most) - scale(least)) * HEIGHT
        };
        text(out, LEFT, top - 10.0, "start", self.title);
        for at in published {
            line(out, [x(*at), top, x(*at), bottom], "#ddd");
        }
        for value in self.marks(least, most) {
            line(out, [LEFT, y(value), right, y(value)], "#eee");
            text(out, LEFT - 6.0, y(value) + 4.0, "end", &format!("{value}"));
        }
        // Ten marks at most, each after a round number of minutes.
        let minutes = seconds / 60.0;
        let step = [1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 360.0].into_iter();
        let step = step.into_iter().find(|step| minutes / step <= 10.0).unwrap_or(minutes);
        for mark in 0..=(minutes / step) as usize {
            let minute = mark as f64 * step;
            text(out, x(minute * 60.0), bottom + 16.0, "middle", &format!("{minute} min"));
        }
        line(out, [LEFT, bottom, right, bottom], "#888");
        for (place, curve) in self.curves.iter().enumerate() {
            let colour = COLOURS[place % COLOURS.len()];
            let points = curve
                .points
                .iter()
                .map(|(at, value)| format!("{:.1},{:.1}", x(*at), y(value.clamp(least, most))));
            let points = points.collect::<Vec<_>>().join(" ");
            writeln!(
                out,
                "<polyline points=\"{points}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.2\"/>"
            )
            .expect("writing into memory does not fail");
            let height = top + 6.0 + place as f64 * LINE;
            line(out, [right + 10.0, height, right + 26.0, height], colour);
            text(out, right + 32.0, height + 4.0, "start", curve.name);
        }
    }

    /// The least and the most of the axis.
    fn range(&self) -> [f64; 2] {
        let values = || self.curves.iter().flat_map(|curve| &curve.points).map(|(_, value)| *value);
        let most = values().fold(f64::MIN_POSITIVE, f64::max);
        if self.is_logarithmic {
            let least = values().filter(|value| *value > 0.0).fold(most, f64::min);
            let (first, last) = (least.log10().floor(), most.log10().ceil());
            return [10f64.powf(first), 10f64.powf(last.max(first + 1.0))];
        }
        let step = 10f64.powf(most.log10().floor());
        [0.0, (most / step).ceil() * step]
    }

    /// The values that have a line across: the powers of ten, or fifths.
    fn marks(&self, least: f64, most: f64) -> Vec<f64> {
        if self.is_logarithmic {
            let (first, last) = (least.log10().round() as i32, most.log10().round() as i32);
            return (first..=last).map(|power| 10f64.powi(power)).collect();
        }
        (0..=5).map(|fifth| least + (most - least) * f64::from(fifth) / 5.0).collect()
    }
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
