#!/usr/bin/env python3
"""Checks reports against the JSON Schema: check_reports.py SCHEMA DIRECTORY

Every *.json in DIRECTORY must parse without NaN or Infinity and satisfy SCHEMA, and keep the identities
that a schema cannot state. The schema itself must describe every field.
"""
import json
import pathlib
import sys

import jsonschema

CLASSES = ("ok", "miss", "rejected", "timeout", "broken", "not_sent", "dropped", "abandoned", "sent")
MIN_REPORTS = 5


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def undescribed(schema, definitions, path=""):
    """Paths of properties without a description."""
    found = []
    if isinstance(schema, dict):
        for name, field in schema.get("properties", {}).items():
            target = field
            if "description" not in field and "$ref" in field:
                target = definitions[field["$ref"].split("/")[-1]]
            if "description" not in target:
                found.append(f"{path}/{name}")
            if schema.get("additionalProperties") is not False:
                found.append(f"{path}: additional properties are allowed")
        for name, child in schema.items():
            found += undescribed(child, definitions, f"{path}/{name}")
    elif isinstance(schema, list):
        for child in schema:
            found += undescribed(child, definitions, path)
    return found


def check_identities(result):
    ops = result["ops"]
    assert ops["attempted"] == sum(ops[name] for name in CLASSES), ops
    count = lambda summary: summary["count"] if summary else 0
    assert count(result["service_us"]) == ops["ok"]
    assert count(result["response_us"]) == result["iterations"]["ok"]
    assert count(result["miss_us"]) == ops["miss"]
    for name, summary in result["failed_us"].items():
        assert count(summary) == ops[name], name
    for name in CLASSES:
        assert sum(entry["ops"][name] for entry in result["by_operation"]) == ops[name], name
    for summary in (result["service_us"], result["response_us"], result["connect_us"]):
        if summary:
            order = ("min", "p50", "p75", "p90", "p95", "p99", "p99_9", "p99_99", "max")
            figures = [summary[name] for name in order]
            assert figures == sorted(figures), figures
            assert summary["min"] <= summary["mean"] <= summary["max"]


def main():
    schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    missing = undescribed(schema, schema["$defs"])
    assert not missing, f"fields without a description: {missing}"
    validator = jsonschema.Draft202012Validator(schema)
    files = sorted(pathlib.Path(sys.argv[2]).glob("*.json"))
    assert len(files) >= MIN_REPORTS, f"only {len(files)} reports in {sys.argv[2]}"
    faults = 0
    for file in files:
        report = json.loads(file.read_text(), parse_constant=no_constant)
        for error in validator.iter_errors(report):
            faults += 1
            print(f"{file.name}: {'/'.join(map(str, error.path))}: {error.message}")
        for result in report["results"]:
            check_identities(result)
            assert sum(second["ok"] for second in result["per_second"]) == result["ops"]["ok"]
        for point in report["summary"]:
            check_identities(point)
        print(f"{file.name}: {report['run']['status']}, {len(report['results'])} results")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
