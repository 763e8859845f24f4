"""Writes test/vectors/cbor: the examples of RFC 8949 (appendix A) as PyPI's cbor2 reads them, and more that cbor2 wrote.

    python -m venv VENV && VENV/bin/pip install cbor2==6.2.1 && VENV/bin/python scripts/vectors/write_cbor.py
"""

import base64
import datetime
import decimal
import importlib.metadata
import json
import pathlib
import random
import uuid

import cbor2

from tagged import tagged

target = pathlib.Path(__file__).parents[2] / "test/vectors/cbor/cbor.ndjson"
origin = f"PyPI cbor2 {importlib.metadata.version('cbor2')}"
utc = datetime.timezone.utc

# Without those that this project reads in a way of its own: simple values that mean nothing (f0, f8ff), and tags whose item is handed on as
# it is (dates as text, URIs, encoded CBOR), which are stated below.
appendix_a = """
00 01 0a 17 1818 1819 1864 1903e8 1a000f4240 1b000000e8d4a51000 1bffffffffffffffff c249010000000000000000 3bffffffffffffffff
c349010000000000000000 20 29 3863 3903e7 f90000 f98000 f93c00 fb3ff199999999999a f93e00 f97bff fa47c35000 fa7f7fffff fb7e37e43c8800759c
f90001 f90400 f9c400 fbc010666666666666 f97c00 f97e00 f9fc00 fa7f800000 fa7fc00000 faff800000 fb7ff0000000000000 fb7ff8000000000000
fbfff0000000000000 f4 f5 f6 c11a514b67b0 c1fb41d452d9ec200000 40 4401020304 60 6161 6449455446 62225c 62c3bc 63e6b0b4 64f0908591 80
83010203 8301820203820405 98190102030405060708090a0b0c0d0e0f101112131415161718181819 a0 a201020304 a26161016162820203 826161a161626163
a56161614161626142616361436164614461656145 5f42010243030405ff 7f657374726561646d696e67ff 9fff 9f018202039f0405ffff 9f01820203820405ff
83018202039f0405ff 83019f0203ff820405 9f0102030405060708090a0b0c0d0e0f101112131415161718181819ff bf61610161629f0203ffff 826161bf61626163ff
bf6346756ef563416d7421ff
""".split()

stated = {
    "f7": None,
    "c074323031332d30332d32315432303a30343a30305a": "2013-03-21T20:04:00Z",
    "d74401020304": {"$bytes": "01020304"},
    "d818456449455446": {"$bytes": "6449455446"},
    "d82076687474703a2f2f7777772e6578616d706c652e636f6d": "http://www.example.com",
}

edges = [0, 23, 24, 255, 256, 65535, 65536, 2**32 - 1, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**63, 2**64 - 1, 2**64, 2**200]
values = {f"integer {n}": n for n in edges + [-1 - n for n in edges]}
values |= {
    "a map with mixed keys": {"a": 1, 2: "b", None: 3, b"x": 4},
    "names that are special": {"__proto__": {"polluted": True}, "constructor": 1, "": 2, "10": 3},
    "a row": {"id": 17, "price": decimal.Decimal("12.50"), "blob": b"\x00\xff", "nested": {"deep": [{"er": None}]}},
    "a decimal fraction": decimal.Decimal("273.15"),
    "a negative decimal fraction": decimal.Decimal("-0.0005"),
    "a decimal fraction of many digits": decimal.Decimal("12345678901234567890.1234567890"),
    "a decimal fraction above one": decimal.Decimal("5E+3"),
    "a uuid": uuid.UUID("f81d4fae-7dec-11d0-a765-00a0c91e6bf6"),
}


def random_value(source, depth):
    pick = source.randrange(9 if depth > 0 else 7)
    if pick == 0:
        return source.choice([None, True, False])
    if pick == 1:
        return source.choice(edges)
    if pick == 2:
        return source.uniform(-1e6, 1e6)
    if pick in (3, 4):
        return "".join(source.choice("abc é世🙂") for _ in range(source.randrange(40)))
    if pick == 5:
        return source.randbytes(source.randrange(20))
    if pick == 6:
        return -source.randrange(2**40)
    if pick == 7:
        return [random_value(source, depth - 1) for _ in range(source.randrange(6))]
    return {f"f{source.randrange(50)}": random_value(source, depth - 1) for _ in range(source.randrange(6))}


def line(name, source, encoded, value):
    written_by = {"writtenBy": source.replace("PyPI cbor2", "cbor2 (Python)")} if source.startswith("PyPI cbor2") else {}
    return json.dumps({"name": name, "from": source, **written_by, "base64": base64.b64encode(encoded).decode(), "value": value}, ensure_ascii=False)


with target.open("w", encoding="utf-8") as out:
    for text in appendix_a:
        encoded = bytes.fromhex(text)
        print(line(f"appendix A: {text}", f"RFC 8949 appendix A, read by {origin}", encoded, tagged(cbor2.loads(encoded))), file=out)
    for text, value in stated.items():
        print(line(f"appendix A: {text}", "RFC 8949 appendix A", bytes.fromhex(text), value), file=out)
    for name, value in values.items():
        print(line(name, origin, cbor2.dumps(value), tagged(value)), file=out)
    for moment in [datetime.datetime(2024, 2, 29, 23, 59, 59, tzinfo=utc), datetime.datetime(1969, 12, 31, 23, 59, 58, 500000, tzinfo=utc)]:
        print(line(f"epoch of {moment.isoformat()}", origin, cbor2.dumps(moment, datetime_as_timestamp=True), tagged(moment)), file=out)
    for day in [datetime.date(2024, 2, 29), datetime.date(1899, 12, 31)]:
        days = (day - datetime.date(1970, 1, 1)).days
        print(line(f"days of {day}", origin, cbor2.dumps(cbor2.CBORTag(100, days)), day.isoformat()), file=out)
        print(line(f"date {day}", origin, cbor2.dumps(cbor2.CBORTag(1004, day.isoformat())), day.isoformat()), file=out)
    print(line("self-described", origin, cbor2.dumps(cbor2.CBORTag(55799, {"a": 1})), {"a": 1}), file=out)
    print(line("a big float: RFC 8949's 1.5", "RFC 8949 section 3.4.4", bytes.fromhex("c5822003"), "1.5"), file=out)
    seeded = random.Random(7)
    for i in range(60):
        value = random_value(seeded, 5)
        print(line(f"random value {i}", origin, cbor2.dumps(value), tagged(value)), file=out)
