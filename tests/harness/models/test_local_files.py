"""Models downloaded by other programs are found in their folders."""

from pathlib import Path

import orjson

from harness.models.local_files import local_files

MIB = 1 << 20


def put(path: Path, mib: int = 16) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        file.truncate(mib * MIB)
    return path


def test_files_of_four_programs_are_listed_with_their_names(tmp_path: Path) -> None:
    studio = put(tmp_path / ".lmstudio/models/a/b/Big-Q4_K_M.gguf")
    put(tmp_path / ".lmstudio/models/a/b/mmproj-Big-F16.gguf")
    server = put(tmp_path / ".cache/llama.cpp/a_b-00001-of-00002.gguf")
    put(tmp_path / ".cache/llama.cpp/a_b-00002-of-00002.gguf")
    put(tmp_path / ".cache/llama.cpp/vocabulary.gguf", mib=1)
    blob = put(tmp_path / "hub/models--a--b/blobs/0123")
    snapshot = tmp_path / "hub/models--a--b/snapshots/1/Small.gguf"
    snapshot.parent.mkdir(parents=True)
    snapshot.symlink_to(blob)
    weights = put(tmp_path / ".ollama/models/blobs/sha256-ab")
    layers = [
        {"mediaType": "application/vnd.ollama.image.license", "digest": "sha256:cd"},
        {"mediaType": "application/vnd.ollama.image.model", "digest": "sha256:ab"},
    ]
    manifest = tmp_path / ".ollama/models/manifests/registry/library/llama3.2/3b"
    manifest.parent.mkdir(parents=True)
    manifest.write_bytes(orjson.dumps({"layers": layers}))
    (manifest.parent / "broken").write_text("{", "utf-8")

    found = local_files(tmp_path, {"HF_HUB_CACHE": str(tmp_path / "hub")})

    assert [(file.of, file.name, file.path) for file in found] == [
        ("LM Studio", "Big-Q4_K_M.gguf", str(studio)),
        ("llama.cpp", "a_b-00001-of-00002.gguf", str(server)),
        ("the hub's cache", "Small.gguf", str(snapshot)),
        ("Ollama", "llama3.2:3b", str(weights)),
    ]
    assert {file.bytes for file in found} == {16 * MIB}


def test_a_home_without_models_lists_none_and_variables_move_the_folders(tmp_path: Path) -> None:
    moved = put(tmp_path / "elsewhere/x.gguf")

    assert local_files(tmp_path / "home", {}) == ()
    assert [
        file.path for file in local_files(tmp_path / "home", {"LLAMA_CACHE": str(moved.parent)})
    ] == [str(moved)]
