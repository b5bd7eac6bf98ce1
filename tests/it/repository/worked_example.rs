//! The worked example of CONTRIBUTING.md changes lines that are there.

use std::fs;

use super::workspace::root;

/// The lines that a fenced diff of a document removes, each with the name of its file. The heading
/// of a file begins with `--- `.
fn removed(document: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut file = String::new();
    let blocks = document.split("```diff\n").skip(1);
    for line in blocks.filter_map(|block| block.split("```").next()).flat_map(str::lines) {
        if let Some(name) = line.strip_prefix("--- ") {
            name.clone_into(&mut file);
        } else if let Some(text) = line.strip_prefix('-') {
            found.push((file.clone(), text.to_owned()));
        }
    }
    found
}

/// The numbers of formats in the example are those of the code: each line that the example removes
/// stands in its file once.
#[test]
fn the_worked_example_removes_lines_that_are_there() {
    let document = fs::read_to_string(root().join("CONTRIBUTING.md")).unwrap();
    let removed = removed(&document);
    assert!(removed.len() >= 2, "{removed:?}");
    for (file, line) in removed {
        let text = fs::read_to_string(root().join(&file)).unwrap();
        let count = text.lines().filter(|found| *found == line).count();
        assert_eq!(count, 1, "CONTRIBUTING.md removes a line of {file}: {line}");
    }
}
