"""Byte-compiles every library of the image: compile_all.py ROOT, ROOT being empty inside the image.

One process with one fixed order and no other work in between, so that the same sources give the same bytes, on the
host and in the guest. The files are those that Python itself would write: time and size of the source in front.
"""

import gc
import os
import sys
from importlib._bootstrap_external import _code_to_timestamp_pyc, cache_from_source

root = sys.argv[1]
# Nothing here makes cycles that need collecting; looking for them costs a tenth of the time.
gc.disable()


def compile_file(path):
    with open(path, "rb") as file:
        source = file.read()
    info = os.stat(path)
    code = compile(source, path[len(root):], "exec", dont_inherit=True)
    target = cache_from_source(path)
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "wb") as file:
        file.write(_code_to_timestamp_pyc(code, int(info.st_mtime), info.st_size & 0xFFFFFFFF))


def compile_below(folder):
    for current, folders, names in os.walk(folder):
        folders.sort()
        if "__pycache__" in folders:
            folders.remove("__pycache__")
        for name in sorted(names):
            if name.endswith(".py"):
                compile_file(current + "/" + name)


for parent in ("/usr/lib", "/usr/share"):
    for name in sorted(os.listdir(root + parent)):
        if name.startswith("python3"):
            compile_below(root + parent + "/" + name)
