# Image pairs.
. "$(dirname "$0")/../support/check.sh"

printf 'P5\n3 2\n255\n\001\002\003\004\005\006' >a.pgm
printf 'P5\n3 2\n255\n\002\002\003\004\007\006' >b.pgm
printf 'P5\n3 2\n255\n\001\001\003\004\005\011' >c.pgm
printf 'P5\n3 1\n255\n\001\001\003' >small.pgm

# Means of three images are 1 2 3 4 6 7; means of two, with halves rounded up, 2 2 3 4 6 6.
prints 'difference_lo	difference_hi	mean_lo	mean_hi	count
-4	0	0	4	2\n-4	0	4	8	2
0	4	0	4	7\n0	4	4	8	7\n' --pairs ring -b 2 -r '-4:4;0:8' a.pgm b.pgm c.pgm
prints 'difference_lo	difference_hi	mean_lo	mean_hi	count
-2	-1	0	2	0\n-2	-1	2	7	1\n-1	0	0	2	0\n-1	0	2	7	1\n0	1	0	2	0\n0	1	2	7	4\n' \
    --pairs apart --edges '-2,-1,0,1;0,2,7' a.pgm b.pgm
prints 'difference_lo	difference_hi	mean_lo	mean_hi	count\n-1	0	1	2	0\n-1	0	2	3	1\n0	1	1	2	0\n0	1	2	3	1\n' \
    --pairs apart -b 2 -r '-1:1;1:3' --roi 0,0,2,1 a.pgm b.pgm
printf 'P5\n3 2\n65535\n123456123456' >deep.pgm
printf '\001\000\002\000\003\000' >wide
prints 'difference_lo	difference_hi	mean_lo	mean_hi	count\n-1	0	0	4	0\n0	1	0	4	6\n' \
    --pairs ring --dtype u16 -b '2;1' -r '-1:1;0:4' wide wide

# An image stored by rows, and the same by columns, which arrives in pieces because it is larger than one.
python3 - <<'END'
import array, gzip
H, W = 1500, 1600
def save(name, fortran, pixels):
    head = "{'descr': '<u2', 'fortran_order': %s, 'shape': (%d, %d), }" % (fortran, H, W)
    gzip.open(name, "wb", 1).write(b"\x93NUMPY\1\0v\0" + head.ljust(117).encode() + b"\n" + pixels.tobytes())
save("rows.npy.gz", False, array.array("H", (y * x % 997 for y in range(H) for x in range(W))))
save("columns.npy.gz", True, array.array("H", (y * x % 997 for x in range(W) for y in range(H))))
END
prints 'difference_lo	difference_hi	mean_lo	mean_hi	count\n-1	0	0	997	0\n0	1	0	997	4800000\n' \
    --pairs ring -b '2;1' -r '-1:1;0:997' rows.npy.gz columns.npy.gz
prints 'difference_lo	difference_hi	mean_lo	mean_hi	count\n-1	0	0	997	0\n0	1	0	997	1550000\n' \
    --pairs apart -b '2;1' -r '-1:1;0:997' --roi 50,500,1550,1000 columns.npy.gz rows.npy.gz

# For any strategy; and axes from the pairs' values.
for strategy in sequential privatized byte_counters; do
    shows '^-2	-1	6	7	1$' --pairs apart --strategy $strategy a.pgm b.pgm
done
refuses 2 'not pairs of images' --pairs apart --strategy value_counts a.pgm b.pgm
shows '^axis difference: integer, 3 bins over \[-2, 1)$' explain --pairs apart a.pgm b.pgm

# Divided by the mean: 1 / 1.5 and -2 / 6, here as 2 * 1 / 3 and 2 * -2 / 12.
prints 'difference_lo	difference_hi	mean_lo	mean_hi	count
-0.75	-0.5	0	8	1\n-0.5	-0.25	0	8	1\n-0.25	0	0	8	0\n0	0.25	0	8	4\n' \
    --pairs apart --relative -b '4;1' -r '-0.75:0.25;0:8' a.pgm b.pgm
shows '^axis difference: variable, 8 bins over .-0.8, 0.8' explain --pairs ring --relative a.pgm b.pgm
refuses 2 'is for differences of images' --relative a.pgm

# The narrowest range of differences with seven eighths of them: 16 of 18 are 0, and the others -2 and 2.
printf 'P5\n3 3\n255\n\001\001\001\001\001\001\001\001\001' >flat.pgm
printf 'P5\n3 3\n255\n\001\001\003\001\001\001\001\001\001' >spot.pgm
shows '^88.9 % of the samples are in 1 of 8 bins of difference, from 0 to 1$' \
    --to text --pairs ring --dense -b '8;4' -r '-4:4;0:4' flat.pgm spot.pgm
shows '^100 % of the samples are in 1 of 8 bins of difference, from 0 to 1$' \
    --to text --pairs ring --dense -b '8;4' -r '-4:4;0:4' flat.pgm flat.pgm
shows '^100 % of the samples are in 1 of 8 bins of difference' --to text --sparse --pairs ring --dense -b '8;4' \
    -r '-4:4;0:4' flat.pgm flat.pgm
checks=$((checks + 1))
"$histo" --pairs ring -b '8;4' -r '-4:4;0:4' -o plain.png flat.pgm spot.pgm && "$histo" --pairs ring --dense -b '8;4' \
    -r '-4:4;0:4' -o dense.png flat.pgm spot.pgm && ! cmp -s plain.png dense.png || fail "--dense draws nothing"

refuses 2 'ring or apart' --pairs both a.pgm b.pgm
refuses 2 'contradict' --pairs ring --joint r,g a.pgm b.pgm
refuses 2 'contradict' --pairs ring --batch a.pgm b.pgm
refuses 2 'at least two images, but there is one' --pairs ring a.pgm
refuses 2 'their number is odd' --pairs apart a.pgm b.pgm c.pgm
refuses 1 'page 0 of small.pgm has 3 samples where the first image has 6' --pairs ring a.pgm small.pgm
printf 'P5\n2 3\n255\n\001\001\003\004\005\011' >high.pgm
refuses 1 'page 0 of high.pgm is 2 samples wide where the first image is 3 wide' --pairs ring a.pgm high.pgm
refuses 1 'deep.pgm has u16 samples where a.pgm has u8: ' --pairs ring a.pgm deep.pgm
refuses 1 'has f16 samples, but --pairs takes images of u8 or u16' --pairs ring --dtype f16 wide wide
if [ "$data" ]; then
    refuses 2 'has 3 channels to count, but --pairs takes one' --pairs ring "$data/grace_hopper.jpg" a.pgm
    # An image paired with itself.
    prints 'difference_lo	difference_hi	mean_lo	mean_hi	count\n-1	0	0	256	0\n0	1	0	256	614400\n' \
        --pairs ring --channel r -b '2;1' -r '-1:1;0:256' "$data/grace_hopper.jpg" "$data/grace_hopper.jpg"
fi
finish
