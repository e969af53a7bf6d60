"""The part of a results file's name that a device gives: python3 bench/device_names.py "NVIDIA H200"."""

import re
import sys


def short_name(device):
    """"h200" of "NVIDIA H200"."""
    name = re.sub(r"^(NVIDIA|AMD) ", "", device)
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


if __name__ == "__main__":
    print(short_name(sys.argv[1]))
