"""Runs the notebooks in ``python/examples``, or those that are given, and fails with the error of a cell. With
``--html FOLDER``, writes them there with their results. Needs nbclient, ipykernel, matplotlib and tqdm, and nbconvert for
HTML."""

import pathlib
import sys

import nbformat
from nbclient import NotebookClient

HERE = pathlib.Path(__file__).resolve().parent


def main(arguments):
    folder = None
    if arguments[:1] == ["--html"]:
        folder, arguments = pathlib.Path(arguments[1]), arguments[2:]
    paths = [pathlib.Path(path) for path in arguments] or sorted((HERE.parent / "examples").glob("*.ipynb"))
    if not paths:
        sys.exit("no notebook was found")
    for path in paths:
        notebook = nbformat.read(path, as_version=4)
        nbformat.validate(notebook)
        client = NotebookClient(notebook, timeout=300, kernel_name="python3", resources={"metadata": {"path": path.parent}})
        client.execute()
        cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
        outputs = [output for cell in cells for output in cell.outputs]
        plots = sum("image/png" in output.get("data", {}) for output in outputs)
        print(f"{path.name}: {len(cells)} cells, {plots} plots")
        if folder is not None:
            from nbconvert import HTMLExporter

            text, _ = HTMLExporter().from_notebook_node(notebook)
            (folder / path.with_suffix(".html").name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
