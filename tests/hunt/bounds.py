"""tests/hunt/bounds.py - what must hold of one answer by itself.

No link carries more than its bandwidth times the time, no GPU computes more than its peak; the
parts of the time add up, the range holds the time and says what it rests on, and memory is
accounted for.
"""
import re

from ask import Refused, close
from exceptions import most_of_peak

ROUNDING = 1e-9
# Pipelines that never flush are told by the last interval of a few iterations: latencies and flows
# that share a link may still move its ends by some millionths of it.
UNSETTLED = 1e-4


def of_links(question):
    """By how much a link may carry more than its bandwidth."""
    never_flushes = question.strategy.name == "pipedream" or \
        str(question.strategy.get("schedule", "")).startswith(("pipedream", "pipemare"))
    return UNSETTLED if never_flushes else ROUNDING


def link_bandwidths(ask, question):
    """By a link's name what it carries, bytes per second; None where the cluster changes on the
    way."""
    if question.option("--degrade"):
        return None
    try:
        _, shown = ask.json("topo show", [question.cluster.text(ask.folder), "--json"])
    except Refused:
        return None
    return {link["name"]: link["bw_Bps"] for link in shown.get("links", [])}


def links(ask, question, _status, answer):
    """Bytes of an answer are of one iteration; with several running after each other as well."""
    seconds = answer["iteration_s"]
    if seconds is None or question.option("--network") == "analytic" or \
            question.option("--collectives") == "closed" or question.option("--iterations"):
        return  # out of memory; messages that share nothing, as the manual says of these two; or
        # an interval between two ends of a run that has not settled yet
    worst = None
    for link in answer["links"]:
        if link["utilisation"] > 1 + of_links(question):
            busy = link["utilisation"] * seconds
            if worst is None or busy > worst[1]:
                worst = f"{link['name']} is busy {100 * link['utilisation']:.4g} %", busy
    if worst:
        yield ("link-carries-its-bandwidth",
               f"{worst[0]}: its bytes take {worst[1]:.6g} s, said are {seconds:.6g} s")
        return
    carries = link_bandwidths(ask, question) if answer["links"] else None
    if not carries:
        return
    for link in answer["links"]:
        bandwidth = carries.get(link["name"])
        if bandwidth and link["bytes"] > bandwidth * seconds * (1 + of_links(question)):
            yield ("time-is-at-least-bytes-over-bandwidth",
                   f"{link['name']} carries {link['bytes']} bytes at {bandwidth:.6g} B/s, which "
                   f"take {link['bytes'] / bandwidth:.6g} s; said are {seconds:.6g} s")
            return


def work(_ask, question, _status, answer):
    if answer["iteration_s"] is None:
        return
    for key in ("mfu", "hfu"):
        most = most_of_peak(question, answer)
        if answer.get(key) is not None and answer[key] > most + ROUNDING:
            yield "work-takes-peak-rate", f"{key} is {answer[key]:.6g}, above {most}"
    if answer.get("hardware_flops") is not None and \
            answer["hardware_flops"] < answer["model_flops"] * (1 - ROUNDING):
        yield ("hardware-flops-hold-model-flops", f"{answer['hardware_flops']} of the hardware, "
               f"{answer['model_flops']} of the model")
    if answer.get("lower_bound_s") is not None and \
            answer["lower_bound_s"] > answer["iteration_s"] * (1 + ROUNDING):
        yield ("time-is-at-least-its-bound", f"bound {answer['lower_bound_s']:.9g} s, time "
               f"{answer['iteration_s']:.9g} s")
    for device in answer["devices"]:
        parts = device["compute_s"] + device["exposed_comm_s"] + device["bubble_s"]
        if not close(parts, answer["iteration_s"], 1e-7):
            yield ("parts-sum-to-the-iteration", f"{device['name']}: compute, exposed "
                   f"communication and bubble are {parts:.9g} s of {answer['iteration_s']:.9g} s")
            return


def figures(_ask, _question, _status, answer):
    seconds = answer["iteration_s"]
    if seconds is None:
        if not answer["oom"]:
            yield "time-is-above-zero", "no time, though it fits"
        return
    if not seconds > 0:
        yield "time-is-above-zero", f"{seconds} s"
        return
    batch = answer["global_batch"]
    if not close(answer["samples_per_s"] * seconds, batch):
        yield ("rate-times-time-is-the-batch",
               f"{answer['samples_per_s']:.9g} /s in {seconds:.9g} s of {batch} samples")
    low, high = answer.get("low_s"), answer.get("high_s")
    if low is not None:
        if not low <= seconds * (1 + ROUNDING) or not seconds <= high * (1 + ROUNDING):
            yield "range-holds-the-time", f"{seconds:.9g} s is not in {low:.9g} to {high:.9g} s"
        rests = answer.get("interval_of", "")
        if not rests or rests.split(": ")[-1].startswith(("0 published", "0 steps")):
            yield ("range-rests-on-something",
                   f"{low:.6g} to {high:.6g} s rests on \"{rests}\"")


def memory(_ask, _question, status, answer):
    count = sum(device["count"] for device in answer["devices"])
    if count < answer["gpus_used"]:
        yield "devices-are-counted", f"{count} in the list, {answer['gpus_used']} used"
    over = any(d["peak_bytes"] > d["capacity_bytes"] > 0 for d in answer["devices"])
    if (status == 3) != bool(answer["oom"]) or over != bool(answer["oom"]):
        yield ("out-of-memory-is-said", f"status {status}, oom {answer['oom']}, some peak is "
               f"{'above' if over else 'within'} its capacity")
    for device in answer["devices"]:
        held = sum(device["memory"].values())
        if not device["peak_allocated_bytes"] <= device["peak_reserved_bytes"] <= \
                device["peak_bytes"]:
            yield ("memory-adds-up", f"{device['name']}: allocated "
                   f"{device['peak_allocated_bytes']}, reserved {device['peak_reserved_bytes']}, "
                   f"peak {device['peak_bytes']}")
            return
        if held > device["peak_bytes"]:
            yield ("memory-adds-up", f"{device['name']}: kinds at the peak are {held} bytes, the "
                   f"peak {device['peak_bytes']}")
            return
    peaks = [d["peak_bytes"] for d in answer["devices"] if not re.search(r"cpu\d*$", d["name"])]
    if max(peaks) != answer["peak_bytes"]:
        yield "memory-adds-up", f"peak {answer['peak_bytes']}, of a GPU {max(peaks)} at most"


JUDGES = [links, work, figures, memory]
