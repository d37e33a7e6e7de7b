"""State of a git repository, as git says it.

git runs with the repository's own configuration, since what a path's filter makes of it is a part of the state, but without the
configuration of users and system, and without what would start programs merely by looking: hooks, file monitors, pagers.
"""

import json
import subprocess
import sys

GIT = "/usr/bin/git"
ABSENT, MALFORMED = 3, 4
QUIET = [
    "-c",
    "core.fsmonitor=false",
    "-c",
    "core.hooksPath=/dev/null",
    "-c",
    "core.untrackedCache=false",
    "-c",
    "core.quotePath=false",
    "-c",
    "safe.directory=*",
]
ENVIRONMENT = {
    "PATH": "/usr/bin:/bin",
    "HOME": "/nonexistent",
    "LC_ALL": "C.UTF-8",
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null",
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
}


def leave(code: int, why: str) -> None:
    print(why, file=sys.stderr)
    sys.exit(code)


def git(path: str, *words: str) -> "subprocess.CompletedProcess[bytes]":
    return subprocess.run(
        [GIT, *QUIET, "-C", path, *words],
        env=ENVIRONMENT,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
    )


def say(path: str, *words: str) -> str:
    done = git(path, *words)
    if done.returncode != 0:
        leave(MALFORMED, done.stderr.decode("utf-8", "replace").strip()[:300])
    return done.stdout.decode("utf-8", "surrogateescape")


def plain(path: str) -> str:
    return path.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def demand_repository(path: str) -> None:
    if git(path, "rev-parse", "--git-dir").returncode != 0:
        leave(ABSENT, f"there is no git repository at {path}")


def status(args: dict) -> dict:
    path = args["path"]
    demand_repository(path)
    state = {
        "branch": None,
        "commit": None,
        "ahead": 0,
        "behind": 0,
        "staged": [],
        "unstaged": [],
        "untracked": [],
        "conflicts": [],
        "stashes": 0,
    }
    lines = say(
        path, "status", "--porcelain=v2", "--branch", "--untracked-files=all", "-z"
    ).split("\0")
    while lines:
        line = lines.pop(0)
        kind, _, rest = line.partition(" ")
        if kind == "#":
            name, _, value = rest.partition(" ")
            if name == "branch.oid" and value != "(initial)":
                state["commit"] = value
            elif name == "branch.head" and value != "(detached)":
                state["branch"] = plain(value)
            elif name == "branch.ab":
                ahead, behind = value.split()
                state["ahead"], state["behind"] = abs(int(ahead)), abs(int(behind))
        elif kind in ("1", "2"):
            letters, name = (
                rest.split(" ", 1)[0],
                rest.split(" ", 7 if kind == "1" else 8)[-1],
            )
            if letters[0] != ".":
                state["staged"].append(plain(name))
            if letters[1] != ".":
                state["unstaged"].append(plain(name))
            if kind == "2":
                lines.pop(0)
        elif kind == "u":
            state["conflicts"].append(plain(rest.split(" ", 9)[-1]))
        elif kind == "?":
            state["untracked"].append(plain(rest))
    state["stashes"] = len(say(path, "stash", "list").splitlines())
    return state


def contains(args: dict) -> dict:
    path = args["path"]
    demand_repository(path)
    for name in (args["commit"], args["in"]):
        if (
            name.startswith("-")
            or git(
                path,
                "rev-parse",
                "--verify",
                "--quiet",
                "--end-of-options",
                name + "^{commit}",
            ).returncode
            != 0
        ):
            leave(ABSENT, f"there is no commit {name}")
    done = git(path, "merge-base", "--is-ancestor", args["commit"], args["in"])
    if done.returncode not in (0, 1):
        leave(MALFORMED, done.stderr.decode("utf-8", "replace").strip()[:300])
    return {"contains": done.returncode == 0}


if __name__ == "__main__":
    print(
        json.dumps(
            {"status": status, "contains": contains}[sys.argv[1]](json.load(sys.stdin))
        )
    )
