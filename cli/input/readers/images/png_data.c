#include "input/readers/images/png_data.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "input/stream/decoder.h"

enum { BLOCK = 65535, BLOCKS = 32, PIECE = 1 << 17, HEADER = 8, CHECK = 4 };

/* Before a block's samples: a chunk header, zlib's in the first one, and the block's; after them: the checksum of all
 * in the last one, and the chunk's. */
enum { FRONT = HEADER + 2 + 5, BACK = 2 * CHECK };

static const uint32_t IDAT = 0x49444154; /* the letters */

typedef struct block {
    unsigned char bytes[FRONT + BLOCK + BACK];
    size_t begin, end;
} block;

struct png_data {
    input *in;
    const unsigned char *at; /* the next byte to read */
    size_t left;             /* bytes left */
    unsigned char header[HEADER];
    bool begun, inflating, inflated;
    uint32_t passing; /* bytes of the current chunk, including its checksum, that are passed through */

    /* Between the threads. */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    block *blocks; /* [BLOCKS], a ring */
    int64_t made, taken;
    bool ended, stop;
    const char *wrong; /* after the blocks; NULL: nothing */
    char damage[64];
    decoder *inflater;
    unsigned char piece[PIECE];
};

static uint32_t number_at(const unsigned char *bytes)
{
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void put_number(unsigned char *to, uint32_t number)
{
    for (int i = 0; i < 4; i++)
        to[i] = (unsigned char)(number >> (24 - 8 * i));
}

static const char *read_full(png_data *d, unsigned char *to, size_t size)
{
    fault ignored = {0};
    while (size > 0) {
        const int64_t got = input_read(d->in, to, size, &ignored);
        if (got <= 0) return got < 0 ? "it cannot be read" : "it ends early";
        to += got;
        size -= (size_t)got;
    }
    return NULL;
}

/* ---- The thread that inflates --------------------------------------------------------------------------- */

/* A block to fill, or NULL if stopped. */
static block *next_block(png_data *d)
{
    pthread_mutex_lock(&d->lock);
    while (!d->stop && d->made - d->taken == BLOCKS)
        pthread_cond_wait(&d->changed, &d->lock);
    block *b = d->stop ? NULL : &d->blocks[d->made % BLOCKS];
    pthread_mutex_unlock(&d->lock);
    return b;
}

/* Hand out a block with this many bytes. */
static void hand_out(png_data *d, block *b, size_t size, bool last)
{
    const size_t front = d->made == 0 ? FRONT : FRONT - 2;
    unsigned char *at = b->bytes + FRONT - front;
    put_number(at, (uint32_t)(front - HEADER + size + (last ? CHECK : 0)));
    put_number(at + 4, IDAT);
    at += HEADER;
    if (d->made == 0) {
        *at++ = 0x78;
        *at++ = 0x01;
    }
    *at++ = last;
    *at++ = (unsigned char)size;
    *at++ = (unsigned char)(size >> 8);
    *at++ = (unsigned char)~size;
    *at++ = (unsigned char)(~size >> 8);
    memset(at + size, 0, BACK);
    b->begin = FRONT - front;
    b->end = FRONT + size + (last ? BACK : CHECK);
    pthread_mutex_lock(&d->lock);
    d->made++;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
}

/* A block that is being filled. */
typedef struct filling {
    block *block;
    size_t size;
    bool ended; /* the deflated data have ended */
} filling;

static const char *inflate_piece(png_data *d, filling *to, size_t size)
{
    decoder_span s = {.in = d->piece, .in_size = size};
    while (!to->ended) {
        if (to->block && to->size == BLOCK) {
            hand_out(d, to->block, to->size, false);
            to->block = NULL;
        }
        if (!to->block) {
            to->size = 0;
            if (!(to->block = next_block(d))) return "it is not wanted";
        }
        s.out = to->block->bytes + FRONT + to->size;
        s.out_size = BLOCK - to->size;
        const decoded done = d->inflater->decode(d->inflater, &s);
        to->size = BLOCK - s.out_size;
        if (done == DECODED_SOME && s.in_size == 0 && s.out_size > 0) return NULL;
        if (done == DECODED_SOME) continue;
        to->ended = done == DECODED_MEMBER;
        if (done == DECODED_DAMAGED) snprintf(d->damage, sizeof d->damage, "IDAT: %s", d->inflater->why);
        if (!to->ended) return done == DECODED_DAMAGED ? d->damage : "insufficient memory";
    }
    return NULL;
}

/* Inflate the rest of an image data chunk, and read the header of the next chunk. */
static const char *inflate_chunk(png_data *d, filling *to)
{
    uint32_t left = number_at(d->header), sum = (uint32_t)crc32(0, d->header + 4, 4);
    const char *wrong = NULL;
    while (left > 0) {
        const uint32_t size = left < PIECE ? left : PIECE;
        if ((wrong = read_full(d, d->piece, size))) return wrong;
        sum = (uint32_t)crc32(sum, d->piece, size);
        if ((wrong = inflate_piece(d, to, size))) return wrong;
        left -= size;
    }
    if ((wrong = read_full(d, d->header, CHECK))) return wrong;
    return number_at(d->header) == sum ? read_full(d, d->header, HEADER) : "IDAT: CRC error";
}

static void *inflate_all(void *self)
{
    png_data *d = self;
    filling to = {0};
    const char *wrong = NULL;
    while (!wrong && number_at(d->header + 4) == IDAT)
        wrong = inflate_chunk(d, &to);
    if (to.block && (to.size > 0 || to.ended)) hand_out(d, to.block, to.size, to.ended);
    pthread_mutex_lock(&d->lock);
    d->ended = true;
    d->wrong = wrong;
    pthread_cond_signal(&d->changed);
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* ---- Reading -------------------------------------------------------------------------------------------- */

static bool start_inflating(png_data *d)
{
    if (!d->inflater) d->inflater = deflate_decoder(false);
    if (!d->blocks) d->blocks = malloc(BLOCKS * sizeof *d->blocks);
    return d->inflater && d->blocks && pthread_create(&d->thread, NULL, inflate_all, d) == 0;
}

/* Wait for the next block: false after the last one. */
static bool take_block(png_data *d)
{
    pthread_mutex_lock(&d->lock);
    if (d->at) d->taken++; /* the previous one has been read */
    pthread_cond_signal(&d->changed);
    while (d->taken == d->made && !d->ended)
        pthread_cond_wait(&d->changed, &d->lock);
    const block *b = d->taken < d->made ? &d->blocks[d->taken % BLOCKS] : NULL;
    pthread_mutex_unlock(&d->lock);
    d->at = b ? b->bytes + b->begin : NULL;
    d->left = b ? b->end - b->begin : 0;
    return b != NULL;
}

/* Pass the chunk whose header has been read through unchanged. */
static const char *pass(png_data *d)
{
    static const unsigned char end[] = {0, 0, 0, 0, 'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82};
    d->at = d->header;
    d->left = HEADER;
    d->passing = number_at(d->header);
    if (d->passing > INT32_MAX) return "chunk length is too large";
    d->passing += CHECK;
    if (memcmp(d->header, end, HEADER) != 0) return NULL;
    const char *wrong = read_full(d, d->piece, CHECK);
    if (wrong || memcmp(d->piece, end + HEADER, CHECK) != 0) return wrong ? wrong : "IEND: CRC error";
    memcpy(d->piece, end, sizeof end);
    d->at = d->piece;
    d->left = sizeof end;
    d->passing = 0;
    return NULL;
}

static const char *refill(png_data *d)
{
    const char *wrong;
    if (d->inflating) {
        if (take_block(d)) return NULL;
        pthread_join(d->thread, NULL);
        d->inflating = false;
        return d->wrong ? d->wrong : pass(d);
    }
    if (d->passing > 0) {
        const uint32_t size = d->passing < PIECE ? d->passing : PIECE;
        d->at = d->piece;
        d->left = size;
        d->passing -= size;
        return read_full(d, d->piece, size);
    }
    if ((wrong = read_full(d, d->header, HEADER))) return wrong;
    if (!d->begun) { /* the signature */
        d->begun = true;
        d->at = d->header;
        d->left = HEADER;
        return NULL;
    }
    if (d->inflated || number_at(d->header + 4) != IDAT) return pass(d);
    d->inflated = true;
    d->at = NULL;
    if (!start_inflating(d)) return "insufficient memory";
    d->inflating = true;
    return NULL;
}

const char *png_data_read(png_data *d, void *to, size_t size)
{
    while (size > 0) {
        const size_t n = size < d->left ? size : d->left;
        if (n == 0) {
            const char *wrong = refill(d);
            if (wrong) return wrong;
            continue;
        }
        memcpy(to, d->at, n);
        d->at += n;
        d->left -= n;
        to = (unsigned char *)to + n;
        size -= n;
    }
    return NULL;
}

png_data *png_data_open(input *in)
{
    png_data *d = calloc(1, sizeof *d);
    if (!d) return NULL;
    pthread_mutex_init(&d->lock, NULL);
    pthread_cond_init(&d->changed, NULL);
    d->in = in;
    return d;
}

void png_data_close(png_data *d)
{
    if (!d) return;
    if (d->inflating) {
        pthread_mutex_lock(&d->lock);
        d->stop = true;
        pthread_cond_signal(&d->changed);
        pthread_mutex_unlock(&d->lock);
        pthread_join(d->thread, NULL);
    }
    if (d->inflater) d->inflater->close(d->inflater);
    pthread_cond_destroy(&d->changed);
    pthread_mutex_destroy(&d->lock);
    free(d->blocks);
    free(d);
}
