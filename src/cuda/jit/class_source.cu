/* Writes classes as C++ and compares them, member by member: see class.h. */
#include <string.h>
#include <type_traits>

#include "cuda/jit/class.h"

/* ---- Members of structs ----
 *
 * In the order of their declaration, as an aggregate is initialised. Structured bindings do not compile where a member
 * is missing. */

template <class function>
static auto with_members(const histo_pow2 &pow2, function use)
{
    const auto &[is, closed, shift, low, high, from] = pow2;
    return use(is, closed, shift, low, high, from);
}

template <class function>
static auto with_members(const histo_fixed_point &fixed, function use)
{
    const auto &[first, last, factor, shift, offset] = fixed;
    return use(first, last, factor, shift, offset);
}

template <class function>
static auto with_members(const histo_chunk &chunk, function use)
{
    const auto &[leader, granule, pixel, reversed, shifted, offset] = chunk;
    return use(leader, granule, pixel, reversed, shifted, offset);
}

template <class function>
static auto with_members(const histo_specialised_axis &axis, function use)
{
    const auto &[by, pow2, fixed] = axis;
    return use(by, pow2, fixed);
}

/* ---- Writing ---- */

template <class type>
static void write(histo_text *text, const type &value)
{
    if constexpr (std::is_class_v<type>) {
        const char *separator = "{";
        with_members(value, [&](const auto &...members) {
            (..., (histo_text_add(text, "%s", separator), write(text, members), separator = ", "));
        });
        histo_text_add(text, "}");
    } else if constexpr (std::is_same_v<type, histo_dtype>) {
        histo_text_add(text, "(histo_dtype)%d", (int)value);
    } else if constexpr (std::is_same_v<type, histo_specialised_lookup>) {
        histo_text_add(text, "(histo_specialised_lookup)%d", (int)value);
    } else if constexpr (std::is_same_v<type, uint32_t>) {
        histo_text_add(text, "%uu", value);
    } else if constexpr (std::is_same_v<type, uint64_t>) {
        histo_text_add(text, "%lluull", (unsigned long long)value);
    } else {
        static_assert(sizeof value <= sizeof(int));
        histo_text_add(text, "%d", (int)value);
    }
}

template <class type>
static void write_array(histo_text *text, const char *type_name, const char *name, int n, const type *values)
{
    histo_text_add(text, "static constexpr %s %s[] = {", type_name, name);
    for (int i = 0; i < n; i++) {
        write(text, values[i]);
        histo_text_add(text, ", ");
    }
    histo_text_add(text, "};\n");
}

void histo_cuda_class_write(const histo_cuda_class *constants, histo_text *text)
{
    histo_text_add(text, "struct constants {\nenum { ");
#define CONSTANT(type, name) histo_text_add(text, #name " = %d, ", (int)constants->name);
#define CONSTANTS(type, name, most, n)
#include "cuda/jit/class.def"
#undef CONSTANT
#undef CONSTANTS
    for (int i = 0; i < constants->own_constants; i++)
        histo_text_add(text, "%s = %d, ", constants->own[i].name, constants->own[i].value);
    histo_text_add(text, "};\n");
#define CONSTANT(type, name)
#define CONSTANTS(type, name, most, n) write_array(text, #type, #name, constants->n, constants->name);
#include "cuda/jit/class.def"
#undef CONSTANT
#undef CONSTANTS
    histo_text_add(text, "};\n");
}

/* ---- Comparing ---- */

template <class type>
static bool are_equal(const type &a, const type &b)
{
    if constexpr (std::is_class_v<type>)
        return with_members(a, [&](const auto &...of_a) {
            return with_members(b, [&](const auto &...of_b) { return (... && are_equal(of_a, of_b)); });
        });
    else
        return a == b;
}

bool histo_cuda_class_equals(const histo_cuda_class *a, const histo_cuda_class *b)
{
#define CONSTANT(type, name)                                                                                           \
    if (a->name != b->name) return false;
#define CONSTANTS(type, name, most, n)                                                                                 \
    for (int i = 0; i < a->n; i++)                                                                                     \
        if (!are_equal(a->name[i], b->name[i])) return false;
#include "cuda/jit/class.def"
#undef CONSTANT
#undef CONSTANTS
    if (a->own_constants != b->own_constants) return false;
    for (int i = 0; i < a->own_constants; i++)
        if (a->own[i].value != b->own[i].value || strcmp(a->own[i].name, b->own[i].name) != 0) return false;
    return true;
}
