"""What an editable install would leave, read from pyproject.toml alone, for when nothing can be built."""

from __future__ import annotations

import os
import re
from typing import Any

from mngr_tmr.publish.program.sharing import CONSOLE_SCRIPT
from mngr_tmr.publish.program.toml_files import read_toml

NEEDS_A_BUILD = ("setup.py", "Cargo.toml", "meson.build", "CMakeLists.txt", "build.py")


def static_template(copy: str, folder: str) -> dict[str, Any] | None:
    """The template of a project in pure Python whose pyproject.toml says all; None for any other."""
    known = read_toml(os.path.join(folder, "pyproject.toml")) or {}
    poetry = known.get("tool", {}).get("poetry", {})
    project = known.get("project") or poetry
    name, version = project.get("name"), project.get("version")
    if not isinstance(name, str) or not isinstance(version, str):
        return None
    if any(os.path.exists(os.path.join(folder, file)) for file in NEEDS_A_BUILD):
        return None
    points = {**poetry.get("plugins", {}), **project.get("entry-points", {})}
    points["console_scripts"] = {**poetry.get("scripts", {}), **project.get("scripts", {})}
    inner = os.path.relpath(folder, copy)
    stem = re.sub(r"[-_.]+", "_", name)
    info = f"{stem}-{version}.dist-info"
    return {
        "files": {
            f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
            + "".join(
                f"Requires-Dist: {text}\n" for text in known.get("project", {}).get("dependencies", [])
            ),
            f"{info}/INSTALLER": "mngr\n",
            f"{info}/RECORD": f"{info}/METADATA,,\n",
            f"{info}/entry_points.txt": entry_points_text(points),
            f"{info}/direct_url.json": "",
            f"__editable__.{stem}.pth": "\n".join(import_folders(folder, inner, poetry)) + "\n",
        },
        "programs": {
            program: ["python", console_script(target)]
            for program, target in points["console_scripts"].items()
            if isinstance(target, str)
        },
        "products": {},
        "folder": inner,
    }


def entry_points_text(groups: dict[str, Any]) -> str:
    lines: list[str] = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items()), ""]
    return "\n".join(lines)


def console_script(target: str) -> str:
    module, _, function = target.partition(":")
    return CONSOLE_SCRIPT.format(
        module=module.strip(), function=function.strip(), first=function.strip().split(".")[0]
    )


def import_folders(folder: str, inner: str, poetry: dict[str, Any]) -> list[str]:
    """Where the project's packages are imported from: `src` where there is one, else the folder itself."""
    named = [
        str(package.get("from", "")) for package in poetry.get("packages", ()) if isinstance(package, dict)
    ]
    folders = named or (["src"] if os.path.isdir(os.path.join(folder, "src")) else [""])
    return sorted({os.path.normpath(os.path.join("@MNGR-COPY@", inner, path)) for path in folders})
