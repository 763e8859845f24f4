"""Writes test/vectors/msgpack: bytes that PyPI's msgpack wrote, and the values that they were written from.

    python -m venv VENV && VENV/bin/pip install msgpack==1.2.4 && VENV/bin/python scripts/vectors/write_msgpack.py
"""

import datetime
import json
import pathlib
import random

import msgpack

from tagged import tagged

target = pathlib.Path(__file__).parents[2] / "test/vectors/msgpack/msgpack.ndjson"
origin = f"PyPI msgpack {'.'.join(map(str, msgpack.version))}"
utc = datetime.timezone.utc

edges = [0, 1, 127, 128, 255, 256, 65535, 65536, 2**31 - 1, 2**31, 2**32 - 1, 2**32, 2**53 - 1, 2**53, 2**53 + 1, 2**63 - 1, 2**63, 2**64 - 1]
negative = [-1, -32, -33, -128, -129, -32768, -32769, -(2**31), -(2**31) - 1, -(2**53) + 1, -(2**53), -(2**53) - 1, -(2**63)]

values = {f"integer {n}": n for n in edges + negative}
values |= {f"float {x}": x for x in [0.0, -0.0, 1.5, -2.25, 1e300, 5e-324, float("inf"), float("-inf"), float("nan")]}
values |= {"nil": None, "true": True, "false": False}
values |= {f"text of {n} characters": "x" * n for n in [0, 1, 31, 32, 255, 256, 70000]}
values |= {"text beyond ASCII": "Grüße, 世界 🙂", "text with a null character": "a\0b"}
values |= {f"{n} bytes": bytes(i % 256 for i in range(n)) for n in [0, 1, 255, 256, 66000]}
values |= {f"array of {n}": list(range(n)) for n in [0, 1, 15, 16, 70000]}
values |= {f"map of {n}": {f"k{i}": i for i in range(n)} for n in [0, 1, 15, 16, 66000]}
values |= {
    "a map with integer keys": {1: "a", -5: "b"},
    "a map with mixed keys": {"a": 1, 2: "b", None: 3, True: 4, b"x": 5},
    "names that are special": {"__proto__": {"polluted": True}, "constructor": 1, "toString": None, "": 2, "10": 3},
    "a row": {"id": 17, "name": "Widget", "price": "12.50", "tags": ["a", "b"], "blob": b"\x00\xff", "nested": {"deep": [{"er": None}]}},
    "a timestamp of seconds": datetime.datetime(2024, 2, 29, 23, 59, 59, tzinfo=utc),
    "a timestamp with microseconds": datetime.datetime(2024, 2, 29, 23, 59, 59, 123456, tzinfo=utc),
    "a timestamp before 1970": datetime.datetime(1969, 12, 31, 23, 59, 59, 500000, tzinfo=utc),
    "a timestamp after 2514": datetime.datetime(9999, 12, 31, 23, 59, 59, 999999, tzinfo=utc),
    "an extension": msgpack.ExtType(42, b"four"),
    "an extension of one byte": msgpack.ExtType(127, b"x"),
    "an extension of 17 bytes": msgpack.ExtType(0, b"x" * 17),
}


def written(value):
    if isinstance(value, msgpack.ExtType):
        return {"type": value.code, "data": tagged(value.data)}
    return tagged(value)


def random_value(source, depth):
    pick = source.randrange(9 if depth > 0 else 7)
    if pick == 0:
        return source.choice([None, True, False])
    if pick == 1:
        return source.choice(edges + negative)
    if pick == 2:
        return source.uniform(-1e6, 1e6)
    if pick in (3, 4):
        return "".join(source.choice("abc é世🙂") for _ in range(source.randrange(40)))
    if pick == 5:
        return source.randbytes(source.randrange(20))
    if pick == 6:
        return source.randrange(-(2**40), 2**40)
    if pick == 7:
        return [random_value(source, depth - 1) for _ in range(source.randrange(6))]
    return {f"f{source.randrange(50)}": random_value(source, depth - 1) for _ in range(source.randrange(6))}


seeded = random.Random(7)
values |= {f"random value {i}": random_value(seeded, 5) for i in range(60)}


def line(name, packed, value, note=""):
    return json.dumps({"name": name, "from": origin + note, "writtenBy": origin.replace("PyPI msgpack", "msgpack (Python)"), "base64": __import__("base64").b64encode(packed).decode(), "value": written(value)}, ensure_ascii=False)


with target.open("w", encoding="utf-8") as out:
    for name, value in values.items():
        if isinstance(value, (list, dict)) and len(value) > 60000 or isinstance(value, (str, bytes)) and len(value) > 60000:
            continue  # what 32-bit lengths hold is tested without a file for it
        packed = msgpack.packb(value, datetime=isinstance(value, datetime.datetime))
        print(line(name, packed, value), file=out)
    for x in [0.5, -0.1, 3.4028234663852886e38]:
        packed = msgpack.packb(x, use_single_float=True)
        print(line(f"float32 {x}", packed, msgpack.unpackb(packed), ", use_single_float"), file=out)
