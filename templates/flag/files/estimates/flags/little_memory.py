"""A flag about a machine with little free memory."""

from estimates.flags.observation import FlagEvidence, Observation, bounds

LEAST_MIB = bounds("little-memory")["mib"]


def little_memory(evidence: FlagEvidence) -> Observation | None:
    """Main memory was nearly full when the campaign started."""
    snapshots = evidence.submission.environment or ()
    free = [each.available_ram_mib for each in snapshots if each.moment == "before"]
    least = min((mib for mib in free if mib is not None), default=None)
    return Observation(mib=least) if least is not None and least < LEAST_MIB else None
