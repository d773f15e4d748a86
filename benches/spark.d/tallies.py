"""The output of a task: the bytes of the plan and of tallies of a few splits, and the milliseconds to merge one, as JSON.

Arguments: the dump, the bytes of a split."""

import json
import sys
import time
from statistics import median

import slotscope

FEW = 8

path, split = sys.argv[1:]
plan, splits = slotscope.plan_splits(path, split=int(split))
tallies = [slotscope.tally(plan, [part], threads=1) for part in splits[:FEW]]
took = []
for _ in range(5):
    before = time.process_time()
    slotscope.merge(tallies)
    took.append(time.process_time() - before)
print(json.dumps({
    "plan_bytes": len(plan),
    "tally_bytes": median(map(len, tallies)),
    "merge_ms": median(took) / len(tallies) * 1000,
}))
