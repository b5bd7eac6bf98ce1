"""Facts that schemathesis needs and the documents do not have.

The documents do not list the values of enum-like properties, since these change with the data: the
values endpoint has them. With the values filled in here, valid requests pass the check of
contract 6.4 and reach the index.
"""

import os

import requests
import schemathesis

# A caller without an API key may send ten jobs; the documents have the limit with a key.
JOBS_MAX = int(os.environ.get("FIGDEX_JOBS_MAX", "10"))

ENUM_LIKE = ["exchCode", "micCode", "currency", "marketSecDes", "securityType", "securityType2"]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    schemas = raw_schema["components"]["schemas"]
    schemas["BulkMappingJob"]["maxItems"] = JOBS_MAX
    if "ResolveRequest" in schemas:
        schemas["ResolveRequest"]["properties"]["jobs"]["maxItems"] = 100 * JOBS_MAX
    base = os.environ["FIGDEX_BASE"] + raw_schema["servers"][0]["url"]
    for key in ENUM_LIKE:
        values = requests.get(f"{base}/mapping/values/{key}", timeout=10).json()["values"]
        for name in ["MappingJob", "SearchRequest", "FilterRequest"]:
            if name in schemas:
                fill(schemas[name]["properties"][key], values)


def fill(schema, values):
    """Sets the allowed values of a property: of its text, and of the texts of its array."""
    for one in schema.get("oneOf", [schema]):
        one.get("items", one)["enum"] = values

