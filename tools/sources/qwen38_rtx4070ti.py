"""An RTX 4070 Ti measured by Hugo Moreira (Apache-2.0): MTP off and on, two quantisations.

The folder is a copy of the measured answers, one file for each of five repetitions. The answers are
imported: they have llama-server's times and counters for a code prompt and a prose prompt. Machine
and settings are from the repository's configurations and its snapshot of the machine.
"""

import subprocess
import sys
from pathlib import Path

from tools.sources.transcription import ROOT, WrongInputError, digest

DIGEST = "1a31d38ce81b9913ba636878a9f2de63a286a63eaf06d2bfa6b4f71246eba890"
REPETITIONS = range(1, 6)
FACTS = {
    "arm.on": "mtp:n_max=2",
    "task.request-1": "code",
    "task.request-2": "chat",
    "target": "Qwen3.8-27B",
    "parameters": "27B",
    "backend": "cuda",
    "build": "10448",
    "engine_commit": "ad1de39e0708e3ced9c71bb3c82d93a2c046a73f",
    "gpu": "NVIDIA GeForce RTX 4070 Ti",
    "vram_mib": "12282",
    "gpu_driver": "610.88",
    "cpu": "Intel(R) Core(TM) i7-14700K",
    "cpu_architecture": "x86_64",
    "cpu_cores": "28",
    "os": "windows",
    "os_version": "10.0.26200",
    "context": "4096",
    "max_output_tokens": "256",
    "sampling": "greedy",
    "thinking": "false",
    "concurrency": "1",
    "threads": "2",
    "batch": "512",
    "micro_batch": "128",
}
# The two quantisations differ in the layers that fit on the card and in the type of the cache.
QUANTISATIONS = {
    "UD-IQ2_XXS": {"date": "2026-08-15", "gpu_layers": "-1", "kv_type": "q8_0"},
    "IQ4_XS": {"date": "2026-08-16", "gpu_layers": "40", "kv_type": "q4_0"},
}
SOURCE = "Hugo Moreira, https://github.com/hugosmoreira/qwen38-27b-rtx4070ti-windows-benchmark"


def import_answers(folder: Path, quantisation: str) -> None:
    """Import the ten files of one quantisation into the collection."""
    own = dict(QUANTISATIONS[quantisation])
    kv_type = own.pop("kv_type")
    facts = FACTS | own | {"quantisation": quantisation, "kv_type_k": kv_type, "kv_type_v": kv_type}
    files = [
        f"{arm}={folder}/answers/{quantisation}-{state}-rep{repetition}.jsonl"
        for arm, state in (("baseline", "off"), ("on", "on"))
        for repetition in REPETITIONS
    ]
    given = [f"--map={name}={value}" for name, value in facts.items()]
    command = [sys.executable, "-m", "harness", "import", "--from", "llama-server", *files, *given]
    origin = ["--source", SOURCE, "--licence", "Apache-2.0", "-o", "results/community"]
    subprocess.run([*command, *origin], check=True, cwd=ROOT)


if __name__ == "__main__":
    copy = Path(sys.argv[1]).resolve()
    if digest(copy, "answers/*.jsonl") != DIGEST:
        raise WrongInputError(copy)
    for each in QUANTISATIONS:
        import_answers(copy, each)
