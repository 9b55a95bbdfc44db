"""An attacker without rights, for tests: exchanges, links and renames what the agent is about to open. Its way is told by its first word."""
import ctypes
import os
import random
import shutil
import socket
import sys
import time

LIBC = ctypes.CDLL(None, use_errno=True)
AT_FDCWD = -100
EXCHANGE = 2


def exchange(a, b):
    return LIBC.renameat2(AT_FDCWD, a, AT_FDCWD, b, EXCHANGE)


def quietly(call, *args):
    try:
        return call(*args)
    except OSError:
        return None


def swap_for_link(folder, target):
    """`folder` is exchanged with a link to `target`, again and again."""
    link = folder + b".other"
    quietly(os.symlink, target, link)
    while True:
        exchange(folder, link)


def replace_temporary(folder, target):
    """Whatever the agent makes in `folder` for a moment becomes a link to `target`."""
    aside = folder + b".aside"
    quietly(os.mkdir, aside)
    number = 0
    while True:
        for name in quietly(os.listdir, folder) or []:
            if not name.startswith(b".palisade-"):
                continue
            number += 1
            path = os.path.join(folder, name)
            quietly(os.rename, path, os.path.join(aside, b"%d" % number))
            quietly(os.symlink, target, path)


def write_names(folder, text):
    """Files whose names are not UTF-8, one after the other."""
    number = 0
    while True:
        path = os.path.join(folder, b"w\xff%d.sh" % number)
        with open(path, "wb") as file:
            file.write(text)
        number += 1
        time.sleep(1)


def everything(home, seed, outside):
    """Every kind of change, chosen by a seed. Says how many it has made."""
    chosen = random.Random(int(seed))
    names = [b"a", b"b", b"c", b"n\xff", b"x" * 250, b"user-dirs.dirs", b"f.sh", b"g.sh"]
    top = [os.path.join(home, b"Downloads"), os.path.join(home, b".config"), os.path.join(home, b"Downloads/d")]
    done = 0

    def path():
        parts = [chosen.choice(top)] + [chosen.choice(names) for _ in range(chosen.choice([1, 1, 1, 2, 3]))]
        return os.path.join(*parts)

    def opened():
        # A pipe without a reader is no reason to wait.
        return os.fdopen(os.open(path(), os.O_WRONLY | os.O_CREAT | os.O_NONBLOCK, 0o644), "wb")

    def file():
        with opened() as out:
            out.write(b"#!/bin/sh\necho %d\n" % done)

    def sparse():
        with opened() as out:
            out.truncate(chosen.choice([0, 2**25, 2**33]))

    def unix():
        name = path()
        with socket.socket(socket.AF_UNIX) as one:
            one.bind(name[:100])

    def deep():
        here = os.open(chosen.choice(top), os.O_RDONLY)
        for _ in range(17):
            try:
                os.mkdir(b"y" * 250, dir_fd=here)
            except FileExistsError:
                pass
            below = os.open(b"y" * 250, os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(here)

    def clear():
        name = path()
        if os.path.isdir(name) and not os.path.islink(name):
            os.rmdir(name)
        else:
            os.unlink(name)

    def begin_anew():
        # Through a link to "..", the home itself may have lost its rights.
        quietly(os.chmod, home, 0o755)
        for folder in top:
            # What is in its place now: a link would lead out of it.
            quietly(os.unlink, folder)
            quietly(os.mkdir, folder)
            quietly(os.chmod, folder, 0o755)
            for name in quietly(os.listdir, folder) or []:
                # A pipe goes before it is looked into: opening one waits for its other side.
                quietly(os.unlink, os.path.join(folder, name))
                shutil.rmtree(os.path.join(folder, name), ignore_errors=True)
        for name in (b"d", b"bound"):
            quietly(os.mkdir, os.path.join(top[0], name))

    ways = [
        (6, file),
        (4, lambda: os.mkdir(path())),
        (6, lambda: os.rename(path(), path())),
        (8, lambda: exchange(path(), path())),
        (5, lambda: os.symlink(chosen.choice(outside), path())),
        (2, lambda: os.link(chosen.choice(outside), path())),
        (2, lambda: os.link(path(), path())),
        (2, lambda: os.mkfifo(path())),
        (1, unix),
        (1, sparse),
        (5, clear),
        (2, lambda: os.chmod(path(), chosen.choice([0o000, 0o644, 0o777, 0o4755]))),
        (0.02, deep),
    ]
    weights = [weight for weight, _ in ways]
    while True:
        way = chosen.choices(ways, weights)[0][1]
        quietly(way)
        done += 1
        # Now and then things stay as they are for a moment, so that the agent gets somewhere.
        if done % 1000 == 0:
            time.sleep(2.5 * chosen.random())
        # In the end every name would be a full folder, which cannot be removed, and no file would be left.
        if done % 5000 == 0:
            begin_anew()
        if done % 500 == 0:
            print(done, flush=True)


if __name__ == "__main__":
    words = [os.fsencode(word) for word in sys.argv[1:]]
    what = words[0].decode()
    if what == "everything":
        everything(words[1], words[2], words[3:])
    else:
        {"swap": swap_for_link, "replace": replace_temporary, "names": write_names}[what](*words[1:])
