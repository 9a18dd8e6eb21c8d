"""Unwraps the metadata of real fragments into the files of this folder.

    make_data.py OUTPUT_DIR NAME=FRAGMENT_DIR ...
    make_data.py OUTPUT_DIR NAME=CONSOLIDATED_FOOTERS.meta ...

Generic tiles are unwrapped here (GZIP only), so that the tests need neither filters nor storage. All numbers are
little-endian; `bytes` and `text` stand behind their length as u32.

NAME.fragment: text fragment folder, bytes schema payload, bytes whole metadata file, u64 offset of the footer,
u32 count of generic tiles and for each u64 offset and bytes payload, u32 count of data files and for each text name
and u64 size.

NAME.consolidated: bytes payload, u32 count of fragments and for each text folder, bytes schema payload, bytes footer.
"""

import os
import struct
import sys
import zlib

METADATA = "__fragment_metadata.tdb"


class Encrypted(Exception):
    pass


def unwrap(data, start=0):
    """The payload of the generic tile at `start` and where it ends."""
    persisted, size = struct.unpack_from("<QQ", data, start + 4)
    encryption, pipeline = struct.unpack_from("<BI", data, start + 29)
    if encryption:
        raise Encrypted
    at = start + 34 + pipeline
    end = at + persisted
    filters = struct.unpack_from("<I", data, start + 38)[0]
    payload = b""
    (chunks,) = struct.unpack_from("<Q", data, at)
    at += 8
    for _ in range(chunks):
        _, filtered, metadata = struct.unpack_from("<III", data, at)
        body = data[at + 12 + metadata : at + 12 + metadata + filtered]
        if filters:
            parts = struct.unpack_from("<II", data, at + 12)[1]
            for part in range(parts):
                _, compressed = struct.unpack_from("<II", data, at + 20 + 8 * part)
                payload += zlib.decompress(body[:compressed])
                body = body[compressed:]
        else:
            payload += body
        at += 12 + metadata + filtered
    assert at == end and len(payload) == size
    return payload, end


def is_generic_tile(data, at):
    return at + 34 <= len(data) and struct.unpack_from("<BQ", data, at + 20) == (4, 1)


def array_of(path):
    while not (os.path.exists(f"{path}/__schema") or os.path.exists(f"{path}/__array_schema.tdb")):
        path = os.path.dirname(path)
        assert path != "/"
    return path


def fragment(folder):
    folder = os.path.abspath(folder)
    data = open(f"{folder}/{METADATA}", "rb").read()
    tiles, at = [], 0
    while is_generic_tile(data, at):
        payload, end = unwrap(data, at)
        tiles.append((at, payload))
        at = end
    footer = at
    schema = "__array_schema.tdb"
    if footer < len(data):
        (version,) = struct.unpack_from("<I", data, footer)
        if version >= 10:
            (length,) = struct.unpack_from("<Q", data, footer + 4)
            schema = data[footer + 12 : footer + 12 + length].decode()
    root = array_of(folder)
    path = f"{root}/{schema}" if schema == "__array_schema.tdb" else f"{root}/__schema/{schema}"
    schema = unwrap(open(path, "rb").read())[0]
    files = sorted((name, os.path.getsize(f"{folder}/{name}")) for name in os.listdir(folder) if name != METADATA)
    return os.path.basename(folder), schema, data, footer, tiles, files


def text(value):
    value = value if isinstance(value, bytes) else value.encode()
    return struct.pack("<I", len(value)) + value


def fragment_file(folder):
    name, schema, data, footer, tiles, files = fragment(folder)
    out = text(name) + text(schema) + text(data) + struct.pack("<Q", footer)
    out += struct.pack("<I", len(tiles)) + b"".join(struct.pack("<Q", at) + text(payload) for at, payload in tiles)
    out += struct.pack("<I", len(files)) + b"".join(text(name) + struct.pack("<Q", size) for name, size in files)
    return out


def consolidated_file(path):
    payload = unwrap(open(path, "rb").read())[0]
    root = array_of(os.path.abspath(path))
    folders = []
    for base, _, names in os.walk(root):
        if METADATA in names:
            folders.append(base)
    out = text(payload) + struct.pack("<I", len(folders))
    for folder in sorted(folders):
        name, schema, data, footer, _, _ = fragment(folder)
        out += text(name) + text(schema) + text(data[footer:])
    return out


def main(output, *jobs):
    for job in jobs:
        name, path = job.split("=", 1)
        kind, make = ("consolidated", consolidated_file) if path.endswith(".meta") else ("fragment", fragment_file)
        with open(f"{output}/{name}.{kind}", "wb") as file:
            file.write(make(path))


if __name__ == "__main__":
    main(*sys.argv[1:])
