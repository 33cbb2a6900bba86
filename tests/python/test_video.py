"""The command on videos made here: equalization and tracking against OpenCV, a model in NumPy and the truth.

HISTO_COMMAND is its path, HISTO_CASES the number of random cases (default 6), HISTO_SEED the first seed.
"""
import os
import subprocess
import sys
import tempfile

import cv2
import numpy as np

HISTO = os.environ["HISTO_COMMAND"]


def histo(*arguments, stdin=None):
    done = subprocess.run([HISTO, *map(str, arguments)], input=stdin, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout


def y4m(frames, tags):
    """A stream of frames, each a list of planes."""
    samples = [b"".join(plane.astype(plane.dtype.newbyteorder("<")).tobytes() for plane in planes) for planes in frames]
    return b"YUV4MPEG2 " + tags.encode() + b"\n" + b"".join(b"FRAME\n" + s for s in samples)


def background(rng, height, width):
    """Dull colours, smoothed."""
    noise = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
    gray = cv2.GaussianBlur(noise, (0, 0), 3) // 2 + 60
    return gray


def scene(rng, kind, frames=24, size=(240, 320)):
    """A textured ellipse that moves, and for CamShift and the ellipse grows, over a background: images and its boxes."""
    height, width = size
    images, boxes = [], []
    behind = background(rng, height, width)
    texture = rng.integers(0, 60, (height, width)).astype(np.uint8)
    phase = rng.random() * 6
    for k in range(frames):
        cx, cy = width / 2 + 70 * np.sin(k / 9 + phase), height / 2 + 40 * np.cos(k / 7 + phase)
        scale = 1 + (0.015 * k if kind in ("camshift", "ellipse") else 0)
        rx, ry = 26 * scale, 20 * scale
        y, x = np.mgrid[:height, :width]
        inside = ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 <= 1
        image = behind.copy()
        image[inside] = np.stack([200 - texture // 4, 40 + texture, 30 + texture // 2], -1)[inside]
        images.append(image)
        boxes.append((cx - rx, cy - ry, 2 * rx, 2 * ry))
    return images, boxes


def opencv_track(images, window, method, bins=(30, 32)):
    def hsv(image):
        return cv2.cvtColor(image, cv2.COLOR_RGB2HSV)
    x, y, w, h = window
    part = hsv(images[0])[y:y + h, x:x + w]
    model = cv2.calcHist([part], [0, 1], None, list(bins), [0, 180, 0, 256])
    cv2.normalize(model, model, 0, 255, cv2.NORM_MINMAX)
    rows = [window]
    for image in images[1:]:
        back = cv2.calcBackProject([hsv(image)], [0, 1], model, [0, 180, 0, 256], 1)
        criteria = (cv2.TERM_CRITERIA_EPS | cv2.TERM_CRITERIA_COUNT, 10, 1)
        window = (cv2.meanShift if method == "meanshift" else cv2.CamShift)(back, window, criteria)[1]
        rows.append(window)
    return np.array(rows)


def parse(table):
    lines = table.decode().splitlines()
    assert lines[0] in ("frame\tx\ty\tw\th\titerations", "frame\tx\ty\tw\th\titerations\tscale\tgradient\tcolor")
    rows = np.array([[int(v) for v in line.split("\t")[:6]] for line in lines[1:]])
    assert (rows[:, 0] == np.arange(len(rows))).all()
    return rows[:, 1:5]


def centers(rows):
    rows = np.asarray(rows, float)
    return rows[:, :2] + rows[:, 2:] / 2


def check_same_as_opencv(rng, paths, images, method, box):
    """Windows around the object, and any bins."""
    x, y = (int(round(v)) + int(rng.integers(-15, 15)) for v in box[:2])
    w, h = (int(round(v)) + int(rng.integers(-20, 20)) for v in box[2:])
    bins = int(rng.integers(2, 181)), int(rng.integers(2, 100))
    rows = parse(histo("track", "--window", f"{x},{y},{w},{h}", "--method", method, "--axes",
                       "h:%d,s:%d" % bins, *paths))
    assert (rows == opencv_track(images, (x, y, w, h), method, bins)).all()


def check_track(rng, folder, method):
    images, boxes = scene(rng, method)
    window = tuple(int(round(v)) for v in boxes[0])
    paths = []
    for i, image in enumerate(images):
        paths.append(os.path.join(folder, f"{i:03}.ppm"))
        cv2.imwrite(paths[-1], image[:, :, ::-1])
    rows = parse(histo("track", "--window", ",".join(map(str, window)), "--method", method, *paths))
    assert np.abs(centers(rows) - centers(boxes)).max() < 4, np.abs(centers(rows) - centers(boxes)).max(0)
    if method in ("camshift", "ellipse"):
        assert np.abs(rows[:, 2:] / np.array(boxes)[:, 2:] - 1).max() < (0.3 if method == "camshift" else 0.1)
    if method in ("meanshift", "camshift"):
        assert (rows == opencv_track(images, window, method)).all()
        check_same_as_opencv(rng, paths, images, method, boxes[0])
    for threads in "1", "3":
        assert (parse(histo("track", "--threads", threads, "--window", ",".join(map(str, window)), "--method", method,
                            *paths)) == rows).all()
    # The same as video, 4:4:4 of full range: colours differ by rounding.
    frames = []
    for image in images:
        planes = cv2.cvtColor(image, cv2.COLOR_RGB2YCrCb)
        frames.append([planes[:, :, 0], planes[:, :, 2], planes[:, :, 1]])
    height, width = images[0].shape[:2]
    stream = y4m(frames, f"W{width} H{height} F25:1 C444 XCOLORRANGE=FULL")
    video = parse(histo("track", "--window", ",".join(map(str, window)), "--method", method, "-", stdin=stream))
    assert np.abs(centers(video) - centers(boxes)).max() < 4
    # Each chroma sample serves its pixels, also the only one at the end of an odd row.
    height, width = height - 1, width - 1
    quarters = [[planes[0][:height, :width], *(plane[:height:2, :width:2] for plane in planes[1:])] for planes in frames]
    whole = [[planes[0], *(plane.repeat(2, 0).repeat(2, 1)[:height, :width] for plane in planes[1:])] for planes in quarters]
    paths = [parse(histo("track", "--window", ",".join(map(str, window)), "--method", method, "-",
                         stdin=y4m(planes, f"W{width} H{height} F25:1 {tag}")))
             for planes, tag in ((quarters, "C420jpeg"), (whole, "C444"))]
    assert (paths[0] == paths[1]).all()


def parse_y4m(stream, frame_bytes):
    header, _, rest = stream.partition(b"\n")
    frames = []
    while rest:
        line, _, rest = rest.partition(b"\n")
        assert line.startswith(b"FRAME")
        frames.append((line, rest[:frame_bytes]))
        rest = rest[frame_bytes:]
    return header, frames


def flicker(rng, bits, height, width, frames):
    """Frames of luma and chroma whose brightness changes."""
    made = []
    for _ in range(frames):
        level = int(rng.integers(0, 1 << (bits - 1)))
        luma = level + rng.integers(0, 1 << (bits - 2), (height, width)) + np.arange(width) // 2
        planes = [np.minimum(luma, (1 << bits) - 1)]
        planes += [rng.integers(0, 1 << bits, ((height + 1) // 2, (width + 1) // 2)) for _ in range(2)]
        made.append([plane.astype(np.uint8 if bits == 8 else np.uint16) for plane in planes])
    return made


def equalized(luma, counts):
    """What equalization by these counts makes of a plane: exact, or with OpenCV's floats for 256 levels."""
    levels, first = len(counts), int(np.flatnonzero(counts)[0])
    above = np.cumsum(counts) - counts[first]
    total = int(counts.sum() - counts[first])
    if levels == 256:
        table = np.rint(above.astype(np.float32) * np.float32(np.float32(levels - 1) / np.float32(total)))
    else:
        twice = 2 * above * (levels - 1) + total  # halves to even
        table = twice // (2 * total)
        table -= (twice % (2 * total) == 0) & (table % 2 == 1)
    table = np.clip(table, 0, levels - 1)
    table[:first] = 0
    return table[luma].astype(luma.dtype)


def check_equalize(rng, folder):
    bits, smooth = int(rng.choice([8, 8, 10, 12])), int(rng.choice([1, 2, 3, 8]))
    height, width = int(rng.integers(5, 90)), int(rng.integers(5, 90))
    frames = flicker(rng, bits, height, width, int(rng.integers(1, 20)))
    tags = f"W{width} H{height} F25:1 Ip A1:1 C420{f'p{bits}' if bits > 8 else 'jpeg'} Xnobody=knows"
    stream = y4m(frames, tags).replace(b"FRAME\n", b"FRAME Ixyz\n")
    mask, part = np.ones((height, width), bool), []
    if rng.random() < 0.3:  # what counts is a part of each frame, and all of it is mapped
        x, y = int(rng.integers(0, width - 2)), int(rng.integers(0, height - 2))
        w, h = int(rng.integers(1, width - x)), int(rng.integers(1, height - y))
        part += ["--roi", f"{x},{y},{w},{h}"]
        mask[:] = False
        mask[y:y + h, x:x + w] = True
    if rng.random() < 0.3:
        some = rng.random((height, width)) < 0.7
        cv2.imwrite(os.path.join(folder, "mask.png"), some.astype(np.uint8))
        if (mask & some).sum() > 1:
            part += ["--mask", os.path.join(folder, "mask.png")]
            mask &= some
    result = histo("equalize", "--smooth", smooth, "--threads", int(rng.integers(1, 4)), *part, "-", "-", stdin=stream)
    path = os.path.join(folder, "a.y4m")
    with open(path, "wb") as file:
        file.write(stream)
    histo("equalize", "--smooth", smooth, *part, path, os.path.join(folder, "b.y4m"))
    with open(os.path.join(folder, "b.y4m"), "rb") as file:
        assert file.read() == result
    header, got = parse_y4m(result, sum(plane.nbytes for plane in frames[0]))
    assert header == b"YUV4MPEG2 " + tags.encode() and len(got) == len(frames)
    counts = [np.bincount(frame[0][mask], minlength=1 << bits) for frame in frames]
    for i, (line, samples) in enumerate(got):
        recent = np.sum(counts[max(0, i + 1 - smooth):i + 1], axis=0)
        if (recent > 0).sum() == 1:  # its only value stays
            continue
        wanted = equalized(frames[i][0], recent)
        if smooth == 1 and bits == 8 and not part:
            assert (wanted == cv2.equalizeHist(frames[i][0])).all()
        luma = np.frombuffer(samples, wanted.dtype, wanted.size).reshape(wanted.shape)
        assert (luma == wanted).all(), (bits, smooth, i)
        assert samples[wanted.nbytes:] == b"".join(plane.tobytes() for plane in frames[i][1:])
        assert line == b"FRAME Ixyz"


def check_maps(rng, folder):
    """The other commands: luma by the frame's own samples, or those of the last frames."""
    bits, smooth = int(rng.choice([8, 10])), int(rng.choice([1, 3]))
    height, width = int(rng.integers(9, 60)), int(rng.integers(9, 60))
    top = (1 << bits) - 1
    frames = flicker(rng, bits, height, width, 6)
    stream = y4m(frames, f"W{width} H{height} C420{f'p{bits}' if bits > 8 else ''}")
    size = sum(plane.nbytes for plane in frames[0])

    def lumas(*arguments):
        _, got = parse_y4m(histo(*arguments, stdin=stream), size)
        assert [samples[frames[0][0].nbytes:] for _, samples in got] == [
            b"".join(plane.tobytes() for plane in frame[1:]) for frame in frames]
        return [np.frombuffer(samples, frame[0].dtype, frame[0].size).reshape(height, width)
                for (_, samples), frame in zip(got, frames, strict=True)]

    if bits == 8:
        across, down = int(rng.integers(1, 5)), int(rng.integers(1, 5))
        clahe = cv2.createCLAHE(2.5, (across, down))
        made = lumas("clahe", "--tiles", f"{across}x{down}", "--clip", "2.5", "-", "-")
        for luma, frame in zip(made, frames, strict=True):
            assert (luma == clahe.apply(frame[0])).all()

    def recent(i):
        return np.concatenate([frame[0] for frame in frames[max(0, i + 1 - smooth):i + 1]])

    for i, luma in enumerate(lumas("stretch", "--smooth", smooth, "-r", "p5:p90", "-", "-")):
        lo, hi = np.percentile(recent(i), [5, 90])
        assert np.abs(luma - np.clip((frames[i][0] - lo) / (hi - lo), 0, 1) * top).max() <= 0.5 + 1e-9
    target = rng.normal(100, 20, (40, 50)).clip(0, 255).astype(np.uint8)
    path = os.path.join(folder, "target.png")
    cv2.imwrite(path, target)
    levels, counts = np.unique(target, return_counts=True)
    for i, luma in enumerate(lumas("match", "--smooth", smooth, "-", path, "-")):
        below = np.cumsum(np.bincount(recent(i).ravel(), minlength=top + 1)) / recent(i).size
        wanted = np.interp(below, np.cumsum(counts) / target.size, levels)[frames[i][0]]
        assert np.abs(luma - wanted).max() <= 0.5 + 1e-9
    share = np.linspace(0.01, 0.99, 5)
    values = np.quantile(target, share)
    for i, luma in enumerate(lumas("match", "--landmarks", 5, "--smooth", smooth, "-", path, "-")):
        at, inside = np.quantile(recent(i), share), frames[i][0]
        wanted = np.interp(inside, at, values)
        middle = (inside > at[0]) & (inside < at[-1])
        assert (np.diff(at) > 0).all() and np.abs(luma - wanted)[middle].max() <= 0.5 + 1e-9
    out = os.path.join(folder, "classes.y4m")
    table = histo("threshold", "--smooth", smooth, "-", out, stdin=stream).decode().splitlines()
    with open(out, "rb") as file:
        header, got = parse_y4m(file.read(), height * width)
    assert header.endswith(b"Cmono XCOLORRANGE=FULL") and table[0] == "page\tmethod\tthreshold" and len(got) == 6
    for i, (row, (_, samples)) in enumerate(zip(table[1:], got, strict=True)):
        page, method, threshold = row.split("\t")
        assert (int(page), method) == (i, "otsu")
        if bits == 8:
            assert int(threshold) == cv2.threshold(recent(i), 0, 255, cv2.THRESH_OTSU)[0]
        assert samples == np.where(frames[i][0] > int(threshold), 255, 0).astype(np.uint8).tobytes()


def check_backproject(rng, folder):
    height, width = int(rng.integers(20, 120)), int(rng.integers(20, 120))
    noise = rng.integers(0, 256, (height, width, 3)).astype(np.uint8)
    image = cv2.GaussianBlur(noise, (0, 0), float(rng.random() * 3 + 0.1))
    h, s = int(rng.integers(2, 181)), int(rng.integers(2, 257))
    w, v = int(rng.integers(5, 20)), int(rng.integers(5, 20))
    x, y = int(rng.integers(0, width - w)), int(rng.integers(0, height - v))
    path, out, saved = (os.path.join(folder, name) for name in ("in.png", "out.png", "model.json"))
    cv2.imwrite(path, image[:, :, ::-1])
    hsv = cv2.cvtColor(image, cv2.COLOR_RGB2HSV)

    def wanted(of, channels, bins, ranges):
        model = cv2.calcHist([of[y:y + v, x:x + w]], channels, None, bins, ranges)
        cv2.normalize(model, model, 0, 255, cv2.NORM_MINMAX)
        return cv2.calcBackProject([of], channels, model, ranges, 1)

    histo("backproject", "--model-roi", f"{x},{y},{w},{v}", "--axes", f"h:{h},s:{s}", path, out)
    assert (cv2.imread(out, cv2.IMREAD_UNCHANGED) == wanted(hsv, [0, 1], [h, s], [0, 180, 0, 256])).all()
    histo("backproject", "--model-roi", f"{x},{y},{w},{v}", "--axes", "h:30", path, out)
    assert (cv2.imread(out, cv2.IMREAD_UNCHANGED) == wanted(hsv, [0], [30], [0, 180])).all()
    histo("backproject", "--model-roi", f"{x},{y},{w},{v}", "--axes", "b:16,r:8", "--space", "none", path, out)
    got = cv2.imread(out, cv2.IMREAD_UNCHANGED)
    assert (got == wanted(image, [2, 0], [16, 8], [0, 256, 0, 256])).all()
    # A saved histogram of the same region.
    histo("-j", "b,r", "-b", "16;8", "-r", "0:256", "--roi", f"{x},{y},{w},{v}", "-o", saved, path)
    histo("backproject", "--model", saved, "--axes", "b:16,r:8", "--space", "none", "--threads", 2, path, out)
    assert (cv2.imread(out, cv2.IMREAD_UNCHANGED) == got).all()
    # Video: the first frame's region, in all frames; 4:4:4 needs no interpolation.
    planes = [np.ascontiguousarray(plane) for plane in image.transpose(2, 0, 1)]
    stream = y4m([planes, [plane[::-1] for plane in planes]], f"W{width} H{height} C444")
    result = histo("backproject", "--model-roi", f"{x},{y},{w},{v}", "--axes", "v:16,y:8", "--space", "none", "-", "-",
                   stdin=stream)
    header, frames = parse_y4m(result, height * width)
    assert header == f"YUV4MPEG2 W{width} H{height} Cmono XCOLORRANGE=FULL".encode()
    assert [samples for _, samples in frames] == [got.tobytes(), got[::-1].tobytes()]


def main():
    cases, seed = int(os.environ.get("HISTO_CASES", 6)), int(os.environ.get("HISTO_SEED", 1))
    with tempfile.TemporaryDirectory() as folder:
        checks = [(check_track, "meanshift"), (check_track, "camshift"), (check_track, "comaniciu"),
                  (check_track, "ellipse")]
        for case in range(cases):
            rng = np.random.default_rng(seed + case)
            for check, *arguments in checks + 5 * [(check_equalize,), (check_maps,), (check_backproject,)]:
                try:
                    check(rng, folder, *arguments)
                except Exception:
                    print(f"failed: {check.__name__}, HISTO_SEED={seed + case} HISTO_CASES=1", file=sys.stderr)
                    raise
    print(f"{cases} cases")


if __name__ == "__main__":
    main()
