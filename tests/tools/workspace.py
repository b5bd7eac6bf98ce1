"""The crates of the repository, as cargo knows them: a new crate is seen by every check that asks
here, without an edit of the check."""

import json
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
# The workspace, and the separate one of the fuzz targets.
MANIFESTS = ["Cargo.toml", "fuzz/Cargo.toml"]


def packages():
    """The packages of both workspaces, as `cargo metadata` describes them."""
    found = []
    for manifest in MANIFESTS:
        command = ["cargo", "metadata", "--no-deps", "--format-version=1", "--manifest-path", manifest]
        found += json.loads(subprocess.check_output(command, cwd=ROOT))["packages"]
    return found


def folders():
    """The folders of the packages, as paths from the root; that of the root package is `.`."""
    manifests = [Path(package["manifest_path"]) for package in packages()]
    return sorted(str(manifest.parent.relative_to(ROOT)) for manifest in manifests)


def module_folders():
    """The folders with the modules of a target. For those with a library its name, by which a
    program next to it imports it, else ``."""
    found = {}
    for package in packages():
        targets = package["targets"]
        for target in targets:
            source = Path(target["src_path"]).relative_to(ROOT)
            # A target with a single file, such as an example, has no modules.
            if source.name in ("lib.rs", "main.rs"):
                name = target["name"].replace("-", "_") if "lib" in target["kind"] else ""
                found[source.parent] = found.get(source.parent) or name
    # A program inside the folder of its library is checked with it.
    outer = [folder for folder in found if not any(other in folder.parents for other in found)]
    return {str(folder): found[folder] for folder in sorted(outer)}
