"""How vectors write what JSON has no value for; test/vectors and the tests beside the readers know the same tags."""

import datetime
import decimal
import math
import uuid


def tagged(value):
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return value
    if isinstance(value, int):
        return value if abs(value) <= 2**53 - 1 else {"$bigint": str(value)}
    if isinstance(value, float):
        if math.isfinite(value) and not (value == 0 and math.copysign(1, value) < 0):
            return value
        text = "NaN" if math.isnan(value) else "-0" if value == 0 else "Infinity" if value > 0 else "-Infinity"
        return {"$number": text}
    if isinstance(value, (bytes, bytearray)):
        return {"$bytes": value.hex()}
    if isinstance(value, (list, tuple)):
        return [tagged(item) for item in value]
    if isinstance(value, dict):
        if all(isinstance(key, str) for key in value):
            return {key: tagged(item) for key, item in value.items()}
        return {"$map": [[tagged(key), tagged(item)] for key, item in value.items()]}
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (uuid.UUID,)):
        return str(value)
    if isinstance(value, datetime.datetime):
        text = value.astimezone(datetime.timezone.utc).isoformat()
        text = text.replace("+00:00", "")
        return (text.rstrip("0") if "." in text else text) + "Z"
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"no tag for {type(value)}")
