#!/usr/bin/env python3
"""Makes hdr_buckets.txt and hdr_payloads.txt beside this file from HdrHistogram's own Python port:
    python3 -m venv venv && venv/bin/pip install hdrhistogram==0.10.8 && venv/bin/python make_hdr_vectors.py
The unit tests of core/stats and core/wire compare with the two files and need no Python."""
import base64
import pathlib
import random
import zlib

from hdrh.histogram import HdrHistogram

HIGHEST = 3_600_000_000_000
HERE = pathlib.Path(__file__).parent


def new():
    histogram = HdrHistogram(1, HIGHEST, 3)
    assert histogram.counts_len == 33792
    return histogram


def bucket_lines():
    """value index lowest highest, at and around each power of two and at random values."""
    histogram = new()
    values = {0, 1, 2, 1000, 10_007, HIGHEST - 1, HIGHEST}
    for bit in range(1, 42):
        values |= {2**bit - 1, 2**bit, 2**bit + 1, 2**bit + 2 ** (bit - 1)}
    rng = random.Random(1)
    values |= {int(10 ** rng.uniform(0, 12.5)) for _ in range(500)}
    for value in sorted(v for v in values if v <= HIGHEST):
        yield "%d %d %d %d" % (
            value,
            histogram._counts_index_for(value),
            histogram.get_lowest_equivalent_value(value),
            histogram.get_highest_equivalent_value(value),
        )


def samples():
    rng = random.Random(2)
    yield "one", [(1, 1)]
    yield "highest", [(HIGHEST, 1)]
    yield "single_zeros", [(1, 1), (3, 2), (5, 3)]
    yield "neighbours", [(v, v) for v in range(1, 200)]
    yield "bucket_edges", [(v, 1) for v in (1023, 1024, 2047, 2048, 2049, 4095, 4096)]
    yield "large_counts", [(500, 63), (501, 64), (502, 8191), (503, 8192), (10_000, 2**31 - 1),
                           (10**6, 2**40 + 5)]
    yield "lognormal", [(int(rng.lognormvariate(11, 0.7)) + 1, 1) for _ in range(3000)]
    yield "wide", [(int(10 ** rng.uniform(0, 12.5)), rng.randrange(1, 300)) for _ in range(300)]


def payload_lines():
    """name, payload in hex, then value*count for each distinct value."""
    for name, pairs in samples():
        histogram = new()
        merged = {}
        for value, count in pairs:
            histogram.record_value(value, count)
            merged[value] = merged.get(value, 0) + count
        wrapped = base64.b64decode(histogram.encode())
        raw = zlib.decompress(wrapped[8:])
        yield "%s %s %s" % (
            name,
            raw[40:].hex(),
            " ".join("%d*%d" % pair for pair in sorted(merged.items())),
        )


(HERE / "hdr_buckets.txt").write_text("\n".join(bucket_lines()) + "\n")
(HERE / "hdr_payloads.txt").write_text("\n".join(payload_lines()) + "\n")
