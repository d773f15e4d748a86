"""How a peer that is a Python module answers: one JSON object, its result with what the work alone took."""

import json
import resource
import time


def timed(work):
    """Runs `work` and prints its result, seconds and processor seconds: loading the module is not the peer's work."""
    before, start = resource.getrusage(resource.RUSAGE_SELF), time.perf_counter()
    result = work()
    wall, after = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_SELF)
    cpu = after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime
    print(json.dumps({"result": result, "wall": wall, "cpu": cpu}))
