"""redis-py: the keys of each of the 16384 slots of DUMP, one key after another."""

import sys

from answer import timed
from redis.crc import REDIS_CLUSTER_HASH_SLOTS, key_slot


def slots():
    counts = [0] * REDIS_CLUSTER_HASH_SLOTS
    with open(sys.argv[1], "rb") as dump:
        for line in dump:
            counts[key_slot(line[:-1])] += 1
    return counts


timed(slots)
