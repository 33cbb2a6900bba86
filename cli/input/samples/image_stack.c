#include "input/samples/image_stack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int enter(void *self, int file, const samples *in, fault *f)
{
    image_stack *s = self;
    const choice *c = samples_choice(in);
    const char *name = feed_name(s->in, file);
    if (c->count != 1)
        return fault_set(f, EXIT_USAGE, "%s has %d channels to count, but --pairs takes one: choose it with --channel",
                         name, c->count);
    histo_dtype dtype = c->sources[0].dtype;
    if (!s->any && dtype != HISTO_U8 && dtype != HISTO_U16)
        return fault_set(f, EXIT_DATA, "%s has %s samples, but --pairs takes images of u8 or u16", name,
                         histo_dtype_name(dtype));
    if (file > 0 && dtype != s->dtype)
        return fault_set(f, EXIT_DATA, "%s has %s samples where %s has %s: all images of --pairs need the same type",
                         name, histo_dtype_name(dtype), feed_name(s->in, 0), histo_dtype_name(s->dtype));
    s->dtype = dtype;
    return 0;
}

/* Complete the current image. */
static int end_image(image_stack *s, fault *f)
{
    if (s->images == 1) s->places = s->filled;
    if (s->filled == s->places) return 0;
    return fault_set(f, EXIT_DATA, "page %d of %s has %" PRId64 " samples where the first image has %" PRId64, s->page,
                     feed_name(s->in, s->file), s->filled, s->places);
}

static int begin_image(image_stack *s, int file, const piece *p, fault *f)
{
    if (s->images > 0 && end_image(s, f) != 0) return -1;
    if (s->images > 0 && p->width != s->width)
        return fault_set(f, EXIT_DATA,
                         "page %d of %s is %" PRId64 " samples wide where the first image is %" PRId64 " wide", p->page,
                         feed_name(s->in, file), p->width, s->width);
    s->width = p->width;
    if (s->images == HISTO_MAX_IMAGES)
        return fault_set(f, EXIT_DATA, "there are more than %d images to pair: give fewer", HISTO_MAX_IMAGES);
    s->images++;
    s->file = file;
    s->page = p->page;
    s->filled = 0;
    return 0;
}

/* Reserve this many bytes in addition. */
static int make_room(image_stack *s, size_t bytes, fault *f)
{
    if (bytes <= s->room) return 0;
    size_t room = 2 * bytes;
    char *pixels = realloc(s->pixels, room);
    if (!pixels) return fault_set(f, EXIT_DATA, "no memory for the images: give fewer, or a smaller --roi");
    s->pixels = pixels;
    s->room = room;
    return 0;
}

static int take(void *self, int file, const piece *p, fault *f)
{
    image_stack *s = self;
    const histo_view *v = &p->views[0];
    const size_t size = histo_dtype_size(s->dtype);
    if ((s->images == 0 || file != s->file || p->page != s->page) && begin_image(s, file, p, f) != 0) return -1;
    int64_t first = (s->images - 1) * s->places + p->y * s->width + p->x;
    if (make_room(s, (size_t)(first + v->shape[0] * s->width) * size, f) != 0) return -1;
    for (int64_t y = 0; y < v->shape[0]; y++) {
        char *to = s->pixels + (size_t)(first + y * s->width) * size;
        for (int64_t x = 0; x < v->shape[1]; x++, to += size)
            memcpy(to, (const char *)v->data + y * v->strides[0] + x * v->strides[1], size);
    }
    s->filled += histo_view_size(v);
    return 0;
}

int image_stack_read(image_stack *s, feed *in, bool any, fault *f)
{
    *s = (image_stack){.in = in, .any = any};
    const feed_visitor reading = {.verb = "reading", .enter = enter, .take = take, .self = s};
    if (feed_visit(in, &reading, f) != 0 || (s->images > 0 && end_image(s, f) != 0)) return -1;
    if (s->images >= 2) return 0;
    return fault_set(f, EXIT_USAGE,
                     "--pairs needs at least two images, but there is %s: give more files, or --page all",
                     s->images ? "one" : "none");
}

void image_stack_free(image_stack *s)
{
    free(s->pixels);
    *s = (image_stack){0};
}

histo_view image_stack_view(const image_stack *s)
{
    return histo_view_nd(s->pixels, s->dtype, 2, (const int64_t[]){s->images, s->places});
}

static int64_t pixel(const image_stack *s, int64_t image, int64_t place)
{
    int64_t i = image * s->places + place;
    return s->dtype == HISTO_U8 ? ((const uint8_t *)s->pixels)[i] : ((const uint16_t *)s->pixels)[i];
}

int image_stack_visit(const image_stack *s, const histo_pairs *pairs, const feed_visitor *visitor, fault *f)
{
    enum { MAX = 4096 };
    int32_t differences[MAX], sums[MAX];
    float divided[MAX];
    uint8_t narrow[MAX];
    uint16_t wide[MAX];
    const void *means = s->dtype == HISTO_U8 ? (const void *)narrow : (const void *)wide;
    for (int64_t first = 0; first < s->places; first += MAX) {
        const int64_t n = s->places - first < MAX ? s->places - first : MAX;
        for (int64_t k = 0; k < n; k++) {
            int64_t sum = 0;
            for (int64_t i = 0; i < s->images; i++)
                sum += pixel(s, i, first + k);
            sums[k] = (int32_t)sum;
            wide[k] = (uint16_t)((sum + s->images / 2) / s->images);
            narrow[k] = (uint8_t)wide[k];
        }
        for (int64_t i = 0; i < s->images; i += pairs->pairing == HISTO_PAIRS_APART ? 2 : 1) {
            for (int64_t k = 0; k < n; k++) {
                differences[k] = (int32_t)(pixel(s, i, first + k) - pixel(s, (i + 1) % s->images, first + k));
                divided[k] = sums[k] ? (float)(differences[k] * s->images) / (float)sums[k] : 0;
            }
            const histo_view views[] = {pairs->relative ? histo_view_1d(divided, HISTO_F32, n)
                                                        : histo_view_1d(differences, HISTO_I32, n),
                                        histo_view_1d(means, s->dtype, n)};
            if (visitor->take(visitor->self, 0, &(piece){.views = views}, f) != 0) return -1;
        }
    }
    return 0;
}
