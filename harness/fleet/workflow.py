"""Writes a GitHub Actions workflow with a job for every cell, for machines of different people."""

import json
import shlex

from harness.errors import BadInputError
from harness.fleet.matrix import Matrix
from harness.fleet.placement import Cell

# The code host starts no more jobs than this for one matrix.
_MOST_JOBS = 256
_LABEL = "draftmap"
_UPLOAD = "actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1"
_TEXT = """\
# Measures a matrix of Draftmap on self-hosted runners, a job for each cell. Made by
# `draftmap fleet workflow`; make it again when the matrix changes.
#
# A runner needs `draftmap` on its PATH and the labels of the jobs that it takes: `{label}`, and
# `rig-NAME`, `backend-NAME` or `memory-N` where a cell asks for them. A runner takes one job at a
# time; start one for each device, with the device in its environment (CUDA_VISIBLE_DEVICES=0).
name: Draftmap

on:
  workflow_dispatch: # by hand only: what a pull request brings must not run on your machines

permissions: {{}}

concurrency:
  group: draftmap
  cancel-in-progress: false

jobs:
  measure:
    name: Measure ${{{{ matrix.cell.id }}}}
    runs-on: ${{{{ matrix.cell.labels }}}}
    timeout-minutes: {minutes}
    permissions: {{}}
    strategy:
      fail-fast: false
      matrix:
        cell:
{cells}
    steps:
      - name: Measure
        shell: bash
        run: xargs draftmap run --output draftmap-results <<< "${{ARGUMENTS}}"
        env:
          ARGUMENTS: ${{{{ matrix.cell.arguments }}}}
      - name: Upload the result
        uses: {upload}
        with:
          name: ${{{{ matrix.cell.id }}}}
          path: draftmap-results/*.json
          if-no-files-found: error
"""
_MINUTES = 720


def workflow(matrix: Matrix) -> str:
    """The text of the workflow. Raises `BadInputError` for more jobs than there may be."""
    if len(matrix.cells) > _MOST_JOBS:
        message = f"{len(matrix.cells)} cells, but a workflow has {_MOST_JOBS} jobs at most; split"
        raise BadInputError(message)
    cells = "\n".join(f"          - {json.dumps(_job(cell))}" for cell in matrix.cells)
    return _TEXT.format(label=_LABEL, cells=cells, upload=_UPLOAD, minutes=_MINUTES)


def _job(cell: Cell) -> dict[str, object]:
    labels = ["self-hosted", _LABEL]
    labels += [f"rig-{cell.rig}"] if cell.rig else []
    labels += [f"backend-{cell.backend}"] if cell.backend else []
    labels += [f"memory-{cell.memory_gib:g}"] if cell.memory_gib else []
    return {"id": cell.id, "labels": labels, "arguments": shlex.join(cell.arguments)}
