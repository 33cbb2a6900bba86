"""Checks of programs that drive the command on a terminal."""
import sys

failures = 0


def check(good, what):
    global failures
    if not good:
        failures += 1
        print("FAILED:", what)


def finish():
    sys.exit(failures > 0)
