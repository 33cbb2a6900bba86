# Files of several images of which one is read: a word says how many there are. support/anim.avif has four frames, and
# support/two.mpo four views (both by Pillow).
. "$(dirname "$0")/../support/check.sh"

remarks 'two.mpo: image 0 of 4: the others, frames or views, are not read$' --to tsv "$support/two.mpo"
remarks 'two.mpo: image 0 of 4: the others, frames or views, are not read$' equalize "$support/two.mpo" out.png
if ! "$histo" info | grep -q 'heif .*not in this build'; then
    remarks 'anim.avif: image 0 of 4: the others, frames or views, are not read$' --to tsv "$support/anim.avif"
fi

finish
