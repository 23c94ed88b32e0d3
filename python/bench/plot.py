"""Draws what `python python/bench --json FILE` has measured: python python/bench/plot.py FILE... OUTPUT.svg

A bar for each work and file, as long as the fastest other package takes longer than Tulle."""

import json
import statistics
import sys

import matplotlib

matplotlib.use("svg")
matplotlib.rcParams["svg.hashsalt"] = "tulle"  # the same bytes for the same figures
matplotlib.rcParams["svg.fonttype"] = "none"
import matplotlib.pyplot as plot  # noqa: E402


def main(files, output) -> None:
    runs = [json.load(open(file)) for file in files]
    works = [work for work in runs[0]["over"] if all(work in run["over"] for run in runs)]
    figure, axes = plot.subplots(figsize=(8, 0.34 * len(works) + 1.2), layout="constrained")
    width = 0.8 / len(runs)
    for number, run in enumerate(runs):
        ratios = [min(run["over"][work].values()) for work in works]
        threads = "one thread" if run["threads"] == 1 else f"{run['threads']} threads"
        places = [place + (number - (len(runs) - 1) / 2) * width for place in range(len(works))]
        axes.barh(places, ratios, width, color=["#2c7a4b", "#8fc5a3"][number % 2],
                  label=f"{threads}, geometric mean {statistics.geometric_mean(ratios):.2f}")
    axes.axvline(1, color="#8c959f", linestyle="--", linewidth=1)
    axes.set_yticks(range(len(works)), works)
    axes.invert_yaxis()
    axes.set_xlabel("time of the fastest other package over Tulle's, from Python")
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False, loc="upper right")
    figure.savefig(output, metadata={"Date": None})


if len(sys.argv) < 3:
    sys.exit(__doc__)
main(sys.argv[1:-1], sys.argv[-1])
