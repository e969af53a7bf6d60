"""What NVIDIA's profiler counted on a GPU."""

from blocks.ladders import fact, ladder
from blocks.results import GPU, results
from scripts.common import parse_count


def hardware(stage, metric):
    """What NVIDIA's profiler counted in the first launch of a stage: a metric's name, or with a dot the
    opcode of one that counts by opcode, or "instructions": all that warps executed."""
    passes = {entry["stage"]: entry["passes"] for entry in results(f"{GPU}-counters.json")["stages"]}
    metrics = passes[stage][0]["hardware"]
    if metric == "instructions":
        return sum(metrics["sass__inst_executed_per_opcode"].values())
    if metric in metrics:
        return metrics[metric]
    name, _, opcode = metric.rpartition(".")
    return metrics[name].get(opcode, 0)


def per_32_elements(stage):
    """Instructions that warps of the first launch executed for every 32 elements, which are one load
    of a whole warp."""
    n = parse_count(results(f"{GPU}-counters.json")["shape"]["n"])
    return 32 * hardware(stage, "instructions") / n


def issue_slots(stage):
    """The share of their clocks in which a GPU's warp schedulers issue an instruction, of a stage up to
    8 with blocks of 256: four schedulers a multiprocessor and one instruction a clock at most, at the
    highest clock, which these GPUs keep under load."""
    file = f"{GPU}-ladder-256.json"
    executed = per_32_elements(stage) / 32 * ladder(stage, "n", file)
    slots = 4 * fact("multiprocessors", file) * fact("core_hertz", file)
    return executed / (slots * ladder(stage, "real_time", file) / 1e6)
