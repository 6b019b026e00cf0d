"""Find files in the cache of the Hugging Face hub without its client, which is slow to import."""

from collections.abc import Mapping
from pathlib import Path

from huggingface_hub import constants


def cached_files(repository: str, cache_dir: Path | None = None) -> Mapping[str, Path]:
    """Return a repository's files in the hub's cache by name, each in its latest version."""
    snapshots = repository_folder(repository, cache_dir) / "snapshots"
    if not snapshots.is_dir():
        return {}
    return {
        path.relative_to(revision).as_posix(): path
        for revision in sorted(snapshots.iterdir(), key=lambda folder: folder.stat().st_mtime)
        for path in sorted(revision.rglob("*"))
        if path.is_file()
    }


def repository_folder(repository: str, cache_dir: Path | None = None) -> Path:
    """Return the folder of a repository in the hub's cache, whose layout the hub documents."""
    folder = cache_dir or Path(constants.HF_HUB_CACHE)
    return folder / f"models--{repository.replace('/', '--')}"
