"""What NVIDIA's profiler counted on a GPU."""

from blocks.ladders import fact, ladder
from blocks.markdown import count, percent
from blocks.results import GPU, results
from scripts.common import parse_count


# What a warp waits for, by the profiler's name of the reason.
WAITS = {"long_scoreboard": "global memory", "lg_throttle": "the queue to global memory",
         "short_scoreboard": "shared memory or a shuffle", "mio_throttle": "the queue to shared memory",
         "barrier": "a block barrier", "membar": "a fence", "wait": "their own last instruction",
         "math_pipe_throttle": "arithmetic", "branch_resolve": "a branch", "no_instruction": "their next instruction"}
READY = "not_selected"  # the reason of a warp that waits for nothing but its turn


def _counted(stage):
    return next(entry for entry in results(f"{GPU}-counters.json")["stages"] if entry["stage"] == stage)


def waits(stage):
    """What warps wait for most in the first launch of a stage, and its share of the waiting."""
    stalls = {reason: warps for reason, warps in _counted(stage)["stalls"].items() if reason != READY}
    most = max(stalls, key=stalls.get)
    return f"{WAITS.get(most, most)} ({percent(stalls[most] / sum(stalls.values()))})"


def launches_of_cub(n):
    """How many launches a sum of f32 by CUB made under the profiler."""
    return results(f"{GPU}-counters.json")["launches_of_cub"][count(n)]


def hardware(stage, metric):
    """What NVIDIA's profiler counted in the first launch of a stage: a metric's name, or with a dot the
    opcode of one that counts by opcode, or "instructions": all that warps executed."""
    metrics = _counted(stage)["passes"][0]["hardware"]
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
