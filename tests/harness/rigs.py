"""Machines as described by the output of their programs and by their files."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from harness.machine import linux, macos, nvidia, windows
from harness.machine.detect import public
from schemas.submission import Cpu, Machine

CAPTURES = Path(__file__).parents[1] / "captures"
VENDORS = {"amd": "0x1002", "intel": "0x8086"}
LOST = ", ".join(["[GPU is lost]"] * 8)


def capture(name: str) -> str:
    return (CAPTURES / name).read_text(encoding="utf-8")


def with_ids(cards: str) -> str:
    """The rows of the card query, each with a serial number and a slot before it."""
    rows = enumerate(cards.splitlines())
    return "\n".join(f"GPU-{at}a, 00000000:0{at + 1}:00.0, {row}" for at, row in rows)


@dataclass(frozen=True)
class Slot:
    """A card below /sys, with its line of lspci; `mib` is the memory that the driver reports."""

    address: str
    vendor: str
    device: str
    mib: int | None = None


@dataclass(frozen=True)
class EngineRig:
    """The texts of one machine."""

    nvidia: str = ""
    banner: str = ""
    slots: tuple[Slot, ...] = ()
    mac: str = ""
    windows: str = ""
    cpu: str = "AMD Ryzen 7 7845HS"

    def machine(self, folder: Path, environment: Mapping[str, str]) -> Machine:
        """The machine as a program with this environment sees it."""
        usable = nvidia.Visible(variable=environment.get("CUDA_VISIBLE_DEVICES"))
        rows = nvidia.chosen_rows(with_ids(self.nvidia), usable)
        lspci = "\n".join(f'{s.address} "VGA" "Vendor" "{s.device}"' for s in self.slots)
        gpus = (
            *nvidia.parse_cards(rows, self.banner).gpus,
            *linux.gpus(self._drm(folder), linux.parse_lspci(lspci), environment),
            *macos.parse_displays(self.mac),
            *(gpu for gpu in windows.parse_parts(self.windows).gpus if gpu.vendor != "nvidia"),
        )
        return Machine(cpu=Cpu(name=self.cpu, logical_cores=16), gpus=tuple(map(public, gpus)))

    def _drm(self, folder: Path) -> Path:
        root = folder / "drm"
        for at, slot in enumerate(self.slots):
            device = folder / "devices" / slot.address
            device.mkdir(parents=True, exist_ok=True)
            (device / "vendor").write_text(VENDORS[slot.vendor])
            if slot.mib is not None:
                (device / "mem_info_vram_total").write_text(str(slot.mib << 20))
            link = root / f"card{at}" / "device"
            link.parent.mkdir(parents=True, exist_ok=True)
            if not link.is_symlink():
                link.symlink_to(device)
        return root
