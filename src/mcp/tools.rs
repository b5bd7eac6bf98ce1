//! The tools: their list, and calling one by its name.

use std::sync::{Arc, LazyLock};

use rmcp::model::{CallToolResult, Tool, ToolAnnotations};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::answer::fault;
use super::arguments::Arguments;
use super::ask::Routes;
use super::routed::PendingAnswer;
use super::{check, instrument, resolve, search, values};

/// The list of tools, as `tools/list` gives it.
pub(super) fn all() -> &'static [Tool] {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Described {
        name: String,
        title: String,
        description: String,
        input_schema: Map<String, Value>,
    }
    static TOOLS: LazyLock<Vec<Tool>> = LazyLock::new(|| {
        let described: Vec<Described> =
            serde_json::from_str(include_str!("tools.json")).expect("a test reads the list");
        let tools = described.into_iter().map(|tool| {
            let Described { name, title, description, input_schema } = tool;
            let mut tool = Tool::new(name, description, Arc::new(input_schema));
            let hints = ToolAnnotations::with_title(title);
            tool.annotations = Some(hints.read_only(true).open_world(false));
            tool
        });
        tools.collect()
    });
    &TOOLS
}

/// Calls a tool; `None` when no tool has the name.
pub(super) async fn call<R: Routes>(
    routes: &R,
    name: &str,
    given: Option<Map<String, Value>>,
) -> Option<CallToolResult> {
    let name = all().iter().find(|tool| tool.name == name)?.name.as_ref();
    let arguments = Arguments::new(name, given);
    let called = match name {
        "resolve" => resolve::call(routes, arguments).await,
        "search" => search::call(routes, arguments).await,
        "instrument" => instrument::call(routes, arguments).await,
        "values" => values::call(routes, arguments).await,
        _ => check::call(routes, arguments).await,
    };
    let answered = async {
        let PendingAnswer { bytes_max, draft } = called?;
        routes.work(move || Ok(draft()?.within(bytes_max))).await?
    };
    Some(answered.await.unwrap_or_else(fault))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// contract 24.4: the list is small, since a model reads it at each turn.
    #[test]
    fn the_list_of_tools_is_small() {
        let names: Vec<_> = all().iter().map(|tool| &*tool.name).collect();
        assert_eq!(names, ["resolve", "search", "instrument", "values", "check"]);
        let bytes = serde_json::to_vec(all()).unwrap().len();
        assert!(bytes <= 6_000, "{bytes} bytes");
        for tool in all() {
            let hints = tool.annotations.as_ref().unwrap();
            assert_eq!((hints.read_only_hint, hints.open_world_hint), (Some(true), Some(false)));
            assert!(tool.description.as_ref().is_some_and(|text| text.ends_with('.')));
        }
    }
}
