"""Pictures in terminals: inline.py HISTO FILE [sixel]. Decodes those of a pipe, and answers for terminals that show them
and that do not. Prints what is wrong, and exits with 1."""
import base64
import fcntl
import os
import pty
import re
import select
import subprocess
import sys
import termios
import time

from checking import check, finish

HISTO, FILE, *FORMATS = sys.argv[1:]


def run(kind, answers):
    """On a terminal that gives these answers to queries: the exit status and what it was sent."""
    master, slave = pty.openpty()

    def own_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)

    process = subprocess.Popen([HISTO, "--to", kind, "--size", "400x300", FILE], stdin=subprocess.DEVNULL, stdout=slave,
                               stderr=slave, preexec_fn=own_terminal)
    seen, end = b"", time.monotonic() + 20
    while time.monotonic() < end:
        if select.select([master], [], [], 0.05)[0]:
            seen += os.read(master, 1 << 16)
            for query, answer in list(answers.items()):
                if query in seen:
                    os.write(master, answers.pop(query))
        elif process.poll() is not None:
            break
    os.close(master)
    os.close(slave)
    return process.wait(), seen


def picture(kind):
    return subprocess.run([HISTO, "--to", kind, "--size", "400x300", FILE], stdout=subprocess.PIPE, check=True).stdout


def decode_sixels(data):
    """The pixels, as rows of colours in per cent."""
    body = re.fullmatch(rb"\x1bP[^q]*q(.*)\x1b\\\n", data, re.S).group(1)
    _, _, width, height = map(int, re.match(rb'"(\d+);(\d+);(\d+);(\d+)', body).groups())
    colors, rows = {}, [[None] * width for _ in range(height + 6)]
    x = y = color = 0
    for match in re.finditer(rb'#(\d+)(?:;2;(\d+);(\d+);(\d+))?|!(\d+)(.)|([?-~])|([$-])|"[\d;]+', body, re.S):
        number, r, g, b, repeat, repeated, one, move = match.groups()
        if number:
            color = int(number)
            if r:
                colors[color] = (int(r), int(g), int(b))
        elif move:
            x, y = 0, y + 6 * (move == b"-")
        elif one or repeated:
            bits = ord(one or repeated) - 63
            for _ in range(int(repeat or 1)):
                for k in range(6):
                    if bits >> k & 1:
                        rows[y + k][x] = colors[color]
                x += 1
    return rows[:height]


chunks = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", picture("kitty"))
png = base64.b64decode(b"".join(data for _, data in chunks), validate=True)
check(chunks[0][0].startswith(b"f=100,a=T,m="), f"the first chunk is {chunks[0][0]}")
check([keys[-1:] for keys, _ in chunks] == [b"1"] * (len(chunks) - 1) + [b"0"], "not only the last chunk ends the picture")
check(max(len(data) for _, data in chunks) <= 4096, "a chunk is too long")
check(png[:8] == b"\x89PNG\r\n\x1a\n" and png[16:24] == bytes((0, 0, 1, 0x90, 0, 0, 1, 0x2C)), "no PNG of 400 x 300")
attributes = {b"\x1b[c": b"\x1b[?62;22c"}
status, seen = run("kitty", {b"\x1b_Gi=31": b"\x1b_Gi=31;OK\x1b\\", **attributes})
check(status == 0 and b"\x1b_Gf=100" in seen, f"no picture where the terminal knows kitty's protocol: {seen[:200]}")
status, seen = run("kitty", dict(attributes))
check(status == 2 and b"\x1b_Gf=100" not in seen and b"does not support kitty" in seen, f"{status}, {seen[:200]}")
if "sixel" in FORMATS:
    rows = decode_sixels(picture("sixel"))
    check(len(rows) == 300 and len(rows[0]) == 400, f"sixels of {len(rows[0])} x {len(rows)}")
    check(all(all(row) for row in rows) and rows[0][0] == (100, 100, 100), "pixels are missing, or the ground is not white")
    check(len({pixel for row in rows for pixel in row}) > 10, "the picture is empty")
    status, seen = run("sixel", {b"\x1b[c": b"\x1b[?62;4;22c"})
    check(status == 0 and b"\x1bP" in seen, f"no picture where the terminal shows sixels: {seen[:200]}")
    status, seen = run("sixel", {b"\x1b[c": b"\x1b[?64;14c"})
    check(status == 2 and b"\x1bP" not in seen and b"support for sixels" in seen, f"{status}, {seen[:200]}")
finish()
