#!/usr/bin/env python3
"""Checks reports against the JSON Schema: check_schema.py SCHEMA REPORT..."""
import json
import pathlib
import sys

import jsonschema


def no_constant(name):
    raise ValueError(f"{name} is not JSON")


def main():
    validator = jsonschema.Draft202012Validator(json.loads(pathlib.Path(sys.argv[1]).read_text()))
    faults = 0
    for file in sys.argv[2:]:
        report = json.loads(pathlib.Path(file).read_text(), parse_constant=no_constant)
        for error in validator.iter_errors(report):
            faults += 1
            print(f"{file}: {'/'.join(map(str, error.path))}: {error.message}")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
