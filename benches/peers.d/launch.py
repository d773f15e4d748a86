"""Runs the command in its arguments and writes what that took to the file `took`: seconds, processor seconds, peak KiB.

A program of its own because Linux counts the memory of the process that starts a command as the command's: this one is
started without its site packages and imports next to nothing."""

import os
import sys
import time

start = time.perf_counter()
child = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ)
_, status, usage = os.wait4(child, 0)
wall = time.perf_counter() - start
with open("took", "w") as took:
    took.write(f"{wall} {usage.ru_utime + usage.ru_stime} {usage.ru_maxrss}")
sys.exit(os.waitstatus_to_exitcode(status) & 0xFF)
