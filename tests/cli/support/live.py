"""histo --live on a pseudo-terminal: live.py HISTO. Prints what is wrong, and exits with 1."""
import array
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
import time

from checking import check, finish

HISTO = sys.argv[1]


class Live:
    """The command with a pipe as standard input and a terminal of its own."""

    def __init__(self, *arguments, rows=24, columns=80):
        self.master, self.slave = pty.openpty()
        self.resize(rows, columns)
        self.seen = b""

        def own_terminal():
            os.setsid()
            fcntl.ioctl(self.slave, termios.TIOCSCTTY, 0)

        self.process = subprocess.Popen([HISTO, "--live", *arguments], stdin=subprocess.PIPE, stdout=self.slave,
                                        stderr=self.slave, preexec_fn=own_terminal)

    def resize(self, rows, columns):
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def feed(self, data):
        self.process.stdin.write(data if isinstance(data, bytes) else data.encode())
        self.process.stdin.flush()

    def press(self, key):
        os.write(self.master, key)

    def take(self, seconds):
        if select.select([self.master], [], [], seconds)[0]:
            self.seen += os.read(self.master, 65536)

    def wait_for(self, text, seconds=20):
        """Until the terminal has got this text since the last such call."""
        end = time.monotonic() + seconds
        while text.encode() not in self.seen and time.monotonic() < end:
            self.take(0.1)
        check(text.encode() in self.seen, f"'{text}' is not drawn, but {self.seen.decode(errors='replace')!r}")
        self.seen = b""

    def end(self, status=0):
        """What is left on the screen."""
        self.process.stdin.close()
        end = time.monotonic() + 20
        while self.process.poll() is None and time.monotonic() < end:
            self.take(0.05)
        self.take(0.2)
        if self.process.poll() is None:
            self.process.kill()
        check(self.process.wait() == status, f"the exit status is {self.process.returncode}, not {status}")
        check(termios.tcgetattr(self.master)[3] & termios.ICANON, "the terminal takes keys one by one")
        before, _, after = self.seen.decode(errors="replace").rpartition("\033[?1049l")
        os.close(self.master)
        os.close(self.slave)
        return after


def check_counts(path, samples):
    """Are these the counts of the samples, on the edges in the file?"""
    histogram = json.load(open(path))
    histogram = histogram if "axes" in histogram else next(iter(histogram.values()))
    axis = histogram["axes"][0]
    n = axis.get("bins") or len(axis["edges"]) - 1
    edges = axis.get("edges") or [axis["lower"] + i * (axis["upper"] - axis["lower"]) / n for i in range(n + 1)]
    counts = histogram["storage"]["values"]
    counts = counts[len(counts) - n - 1:-1] if len(counts) > n else counts
    expected = [sum(lo <= s < hi for s in samples) for lo, hi in zip(edges, edges[1:])]
    check(counts == expected, f"{counts} are not the counts of {len(samples)} samples, {expected}, on {edges}")
    check(sum(expected) == len(samples), "some samples are in no bin")
    return edges


# q quits; what was counted stays on the screen, and is in the file.
live = Live("-o", "q.json")
live.feed("1 2 2\n")
live.wait_for("3 samples")
live.feed("40\n-7\n")
live.wait_for("5 samples")
live.press(b"q")
left = live.end()
check("standard input" in left and "samples" in left and "\033[H" not in left, f"what is left is {left!r}")
edges = check_counts("q.json", [1, 2, 2, 40, -7])
check(all(e == int(e) for e in edges), f"whole numbers have the edges {edges}")

# Axes grow, also by orders of magnitude; counts stay exact.
samples = []
live = Live("-o", "grown.json")
for exponent in (-3, -1, 0, 2, 5):
    new = [round((i % 17 - 5) * 1.37 * 10.0**exponent, 6) for i in range(100)]
    samples += new
    live.feed("".join(f"{x!r}\n" for x in new))
    live.wait_for(f"{len(samples)} samples")
live.end()
check_counts("grown.json", samples)

# Ctrl-C quits, too, and SIGTERM ends it; the terminal is as it was.
for key in (b"\x03", None):
    live = Live()
    live.feed("5\n")
    live.wait_for("1 sample")
    if key:
        live.press(key)
        check("standard input" in live.end(), "nothing is left after Ctrl-C")
    else:
        live.process.send_signal(signal.SIGTERM)
        live.end(-signal.SIGTERM)

# It follows the size of the terminal.
live = Live(rows=30, columns=100)
live.feed("1 2 3 4\n")
live.wait_for("4 samples")
live.resize(12, 50)
live.wait_for("4 samples")
live.end()

# Tables, of which a row may come in parts; raw samples; video.
live = Live("--column", "b", "-o", "table.json")
live.feed("a,b\n1,10\n2,")
live.wait_for("1 sample")
live.feed("30\n3,20")
live.wait_for("2 samples")
live.press(b"q")
live.end()
check_counts("table.json", [10, 30])
live = Live("--dtype", "i16", "-o", "raw.json")
live.feed(array.array("h", range(-3000, 5192)).tobytes())
live.wait_for("8192 samples")
live.feed(array.array("h", [9000]).tobytes())
live.end()
check_counts("raw.json", [*range(-3000, 5192), 9000])
live = Live("--channel", "gray", "-o", "video.json")
live.feed(b"YUV4MPEG2 W4 H2 F25:1 Cmono\n" + b"FRAME\n" + bytes(range(8)))
live.feed(b"FRAME\n" + bytes([200] * 8))
live.wait_for("16 samples")
live.end()
check_counts("video.json", [*range(8), *[200] * 8])

# Errors are sentences, on the usual screen.
live = Live()
live.feed("1\nx\n")
check("'x' is not a number" in live.end(1), "no error for a word")
live = Live()
check("histo: standard input" in live.end(1), "no error without samples")
live = Live("-b", "fd")
live.feed("1\n2\n")
check("does not know the samples to come" in live.end(2), "no error for a rule")
finish()
