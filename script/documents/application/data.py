"""The inputs of docs/applications.md: what packages ship, and what is made of it with a truth that is known."""
import gzip
import importlib.util
import pathlib
import shutil

import numpy as np
from PIL import Image

KEPT = pathlib.Path(__file__).resolve().parents[3] / "docs/log/results"
SAMPLES = pathlib.Path("/usr/share/matplotlib/mpl-data/sample_data")
PHOTOGRAPHS = ["moon.png", "camera.png", "coins.png", "astronaut.png", "chelsea.png", "coffee.png", "motorcycle_left.png",
               "motorcycle_right.png", "motorcycle_disp.npz"]

SHIFT = (3, -5, 7)  # of the second volume, in samples along z, y, x
FRAMES, BALL = 90, 56
FAULTS = [(1, 300, 77), (3, 61, 410), (4, 201, 202), (6, 17, 500)]  # die, x, y


def package(name):
    return pathlib.Path(importlib.util.find_spec(name).origin).parent


def brain(which):
    """The average brain of ICBM 152 as nilearn ships it: 189 x 233 x 197 voxels of a millimetre, bytes."""
    path = package("nilearn") / f"datasets/data/mni_icbm152_{which}_tal_nlin_sym_09a_converted.nii.gz"
    data = gzip.decompress(path.read_bytes())
    return np.frombuffer(data, np.uint8, offset=352).reshape(189, 233, 197)


def linear_light(image):
    x = image / 255
    return np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055)**2.4)


def make_radiance():
    """A photograph in linear light, lit from the right: four decades, which no display shows."""
    light = linear_light(np.asarray(Image.open("camera.png"), float)) + 0.001
    light = light * 1000.0**(np.linspace(0, 1, light.shape[1])**2)
    np.save("radiance.npy", light.astype(np.float32))


def make_scans(t1):
    """Three scans of different parts, each by a scanner with a scale of its own; 0 around the head."""
    noise = np.random.default_rng(1)
    for i, (gain, offset, power, first) in enumerate([(9, 120, 1.0, 60), (21, 0, 0.85, 72), (4.5, 700, 1.1, 84)], 1):
        part = t1[first:first + 24].astype(float)
        values = gain * 255 * (part / 255)**power + offset + noise.normal(0, gain, part.shape)
        np.save(f"scan{i}.npy", np.where(part > 0, np.clip(np.rint(values), 1, 65535), 0).astype(np.uint16))


def make_volumes(t1, gray):
    """T1 weighted, and the share of gray matter elsewhere: moved by SHIFT."""
    z, y, x = SHIFT
    np.save("t1.npy", np.ascontiguousarray(t1[30:150, 20:210, 20:176]))
    np.save("gray.npy", np.ascontiguousarray(gray[30 - z:150 - z, 20 - y:210 - y, 20 - x:176 - x]))


def truth(frame):
    """The centre of the ball: x, y."""
    t = 2 * np.pi * frame / FRAMES
    return 320 + 220 * np.sin(t), 180 + 100 * np.sin(2 * t + 0.5)


def ycc(image):
    """Rec. 601, full range."""
    r, g, b = np.moveaxis(image.astype(float), -1, 0)
    y = 0.299 * r + 0.587 * g + 0.114 * b
    return [np.clip(np.rint(p), 0, 255).astype(np.uint8) for p in (y, (b - y) / 1.772 + 128, (r - y) / 1.402 + 128)]


def write_y4m(path, frames):
    """RGB frames, 4:2:0."""
    with open(path, "wb") as file:
        for i, image in enumerate(frames):
            if i == 0:
                file.write(b"YUV4MPEG2 W%d H%d F25:1 Ip A1:1 C420jpeg XCOLORRANGE=FULL\n" % image.shape[1::-1])
            y, u, v = ycc(image)
            file.write(b"FRAME\n" + y.tobytes())
            for plane in (u, v):
                quarters = plane.reshape(plane.shape[0] // 2, 2, plane.shape[1] // 2, 2).astype(float)
                file.write(np.rint(quarters.mean((1, 3))).astype(np.uint8).tobytes())


def make_videos():
    """A ball cut out of a flag, on its way through a garage; and a portrait at dusk with a lamp that
    blinks."""
    garage = np.asarray(Image.open("motorcycle_left.png").convert("RGB").resize((640, 360)))
    flag = np.asarray(Image.open("grace_hopper.jpg"))[56:56 + BALL, 364:364 + BALL]
    rows, columns = np.mgrid[:BALL, :BALL]
    inside = (rows - (BALL - 1) / 2)**2 + (columns - (BALL - 1) / 2)**2 < (BALL / 2)**2

    def frame(i):
        x, y = (int(round(v)) - BALL // 2 for v in truth(i))
        image = garage.copy()
        image[y:y + BALL, x:x + BALL][inside] = flag[inside]
        return image
    write_y4m("ball.y4m", (frame(i) for i in range(FRAMES)))

    dusk = np.asarray(Image.open("astronaut.png").convert("RGB").resize((320, 320)), float) * 0.45
    rows, columns = np.mgrid[:320, :320]
    lamp = ((rows - 90)**2 + (columns - 250)**2 < 60**2)[..., None]
    on = np.random.default_rng(2).random(60) < 0.4
    write_y4m("lamp.y4m", (np.where(lamp, 250, dusk).astype(np.uint8) if lit else dusk.astype(np.uint8) for lit in on))


def make_dies():
    """Eight dies of one circuit, with a camera's noise, and a particle on four of them."""
    noise = np.random.default_rng(3)
    y, x = np.mgrid[:512, :512]
    circuit = 60 + 50 * (x // 16 % 3) + 25 * (y // 8 % 2) + 20 * np.sin(x / 90)
    dies = np.clip(np.rint(circuit + noise.normal(0, 2, (8, 512, 512))), 0, 255)
    for i, (die, column, row) in enumerate(FAULTS):
        dies[die, row, column] += (35, -35, 40, -30)[i]
    for i, die in enumerate(dies):
        Image.fromarray(np.clip(die, 0, 255).astype(np.uint8)).save(f"die{i}.png")


def make():
    """All of them, in the current directory."""
    for name in PHOTOGRAPHS:
        shutil.copy(package("skimage") / "data" / name, name)
    for name in ("grace_hopper.jpg", "s1045.ima.gz"):
        shutil.copy(SAMPLES / name, name)
    t1, gray = brain("t1"), brain("gm")
    Image.fromarray(t1[95]).save("t1.png")
    make_radiance()
    make_scans(t1)
    make_volumes(t1, gray)
    make_videos()
    make_dies()
