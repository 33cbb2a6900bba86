# Sound: integers as they are stored, channels, and files that are cut off. Each is counted as the .npy of the same
# values is.
. "$(dirname "$0")/../support/check.sh"

needs sound libsndfile

makes_files <<'END'
import random, struct
from volumes import npy

random.seed(4)
n = 3000

def wav(kind, bits, channels, data, size=None):
    fmt = struct.pack("<HHIIHH", kind, channels, 8000, 8000 * channels * bits // 8, channels * bits // 8, bits)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " + struct.pack("<I", 16) + fmt + b"data" +
            struct.pack("<I", len(data) if size is None else size) + data)

def aiff(bits, channels, data):
    rate = struct.pack(">HQ", 16383 + 12, 8000 << 51)
    comm = struct.pack(">hIh", channels, len(data) * 8 // bits // channels, bits) + rate
    body = b"COMM" + struct.pack(">I", 18) + comm + b"SSND" + struct.pack(">III", 8 + len(data), 0, 0) + data
    return b"FORM" + struct.pack(">I", 4 + len(body)) + b"AIFF" + body

def values(lo, hi):
    return [lo, hi] + [random.randint(lo, hi) for _ in range(n - 2)]

u1, i2, i3, i4 = values(0, 255), values(-2**15, 2**15 - 1), values(-2**23, 2**23 - 1), values(-2**31, 2**31 - 1)
floats = [struct.unpack("<f", struct.pack("<f", random.gauss(0, 2)))[0] for _ in range(n)]
doubles = [random.gauss(0, 2) for _ in range(n)]
three = b"".join(struct.pack("<i", v)[:3] for v in i3)
for name, code, of, kind, bits, data in (
        ("u1", "u1", u1, 1, 8, bytes(u1)), ("i2", "i2", i2, 1, 16, struct.pack("<%dh" % n, *i2)),
        ("i3", "i4", i3, 1, 24, three), ("i4", "i4", i4, 1, 32, struct.pack("<%di" % n, *i4)),
        ("f4", "f4", floats, 3, 32, struct.pack("<%df" % n, *floats)),
        ("f8", "f8", doubles, 3, 64, struct.pack("<%dd" % n, *doubles))):
    npy(name + ".npy", code, of)
    open(name + ".wav", "wb").write(wav(kind, bits, 1, data))
npy("i1.npy", "i1", [v - 128 for v in u1])
open("i1.aiff", "wb").write(aiff(8, 1, struct.pack("%db" % n, *(v - 128 for v in u1))))
open("i2.aiff", "wb").write(aiff(16, 1, struct.pack(">%dh" % n, *i2)))
stereo = struct.pack("<%dh" % n, *i2)
npy("left.npy", "i2", i2[0::2])
npy("right.npy", "i2", i2[1::2])
open("stereo.wav", "wb").write(wav(1, 16, 2, stereo))
open("streamed.wav", "wb").write(wav(1, 16, 2, stereo, size=0xffffffff))
open("cut.wav", "wb").write(wav(1, 16, 2, stereo)[:-100])
open("cut.aiff", "wb").write(aiff(16, 1, struct.pack(">%dh" % n, *i2))[:-100])
au = b".snd" + struct.pack(">5I", 24, 2 * n, 3, 8000, 1) + struct.pack(">%dh" % n, *i2)
caf = (b"caff" + struct.pack(">HH", 1, 0) + b"desc" + struct.pack(">qd4s5I", 32, 8000, b"lpcm", 0, 2, 1, 1, 16) +
       b"data" + struct.pack(">qI", 4 + 2 * n, 0) + struct.pack(">%dh" % n, *i2))
rf64 = (b"RF64\xff\xff\xff\xffWAVEds64" + struct.pack("<IQQQI", 28, 72 + 2 * n, 2 * n, n, 0) +
        wav(1, 16, 1, struct.pack("<%dh" % n, *i2), size=0xffffffff)[12:])
for name, data in (("i2.rf64", rf64), ("cut.rf64", rf64[:-100]), ("i2.au", au), ("cut.au", au[:-100]),
                   ("i2.caf", caf), ("cut.caf", caf[:-100])):
    open(name, "wb").write(data)
open("header.wav", "wb").write(wav(1, 16, 2, stereo)[:40])
END

for type in u1 i2 i3 i4 f4 f8; do
    like $type.npy $type.wav
    like $type.npy - <$type.wav
done
like i1.npy i1.aiff
like i2.npy i2.aiff
like i2.npy i2.rf64
like i2.npy i2.au
like i2.npy i2.caf
like left.npy --channel 0 stereo.wav
like right.npy --channel 1 stereo.wav
like right.npy --channel 1 streamed.wav
like "$support/tone.npy" "$support/tone.flac"
refuses 1 'cut.wav is truncated: 5900 of 6000 bytes of its samples are there' cut.wav
refuses 1 'cut.aiff is truncated: 5908 of 6008 bytes of its samples are there' cut.aiff
refuses 1 'cut.rf64 is truncated: 5900 of 6000 bytes of its samples are there' cut.rf64
refuses 1 'cut.au is truncated: 5900 of 6000 bytes of its samples are there' cut.au
refuses 1 'cut.caf is truncated: 5904 of 6004 bytes of its samples are there' cut.caf
refuses 1 'header.wav cannot be read as sound' header.wav
head -c 1000 "$support/tone.flac" >cut.flac
refuses 1 'cut.flac cannot be read as sound' cut.flac
finish
