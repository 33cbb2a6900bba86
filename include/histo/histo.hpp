/* histo.hpp: histograms of samples of any type, in C++17. Header-only, on top of the C library.
 *
 * A sample may be any struct: a *record*. A functor maps it to the number that is counted, and a histogram has an axis
 * for each functor:
 *
 *     struct hit { float x, y, energy; int detector; };
 *     std::vector<hit> hits = …;
 *     histo::histogram h(histo_axis_regular(1000, 0, 1e4));
 *     h.fill(hits, [](const hit &h) { return std::hypot(h.x, h.y); });
 *     std::vector<std::uint64_t> counts = h.counts();
 *
 * Functors return an enum or a number of any arithmetic C++ type but long double, and the axis determines its bin; a
 * functor that computes the bin number itself returns an integer, for histo_axis_integer(0, bins). The counts are, bit
 * for bit, those that the library gives for an array of these numbers, with the same underflow, overflow and NaN; but
 * no such array is made: each thread calls the functor for a block of records, whose numbers stay in its cache, and the
 * library's own kernels count them. A fill takes as long as filling with the numbers plus calling the functor, which
 * the compiler inlines into a loop and vectorises where it can.
 *
 * Functors are called by several threads at once, in any order, once for each record, and must not throw. A pointer to
 * a data member is a functor, too: h.fill(hits, &hit::energy).
 *
 * On a GPU, the same functors count records in its memory, if they and the records are defined in a HISTO_SOURCE:
 *
 *     HISTO_SOURCE(detectors,
 *         struct hit { float x, y, energy; int detector; };
 *         struct radius {
 *             float operator()(const hit &h) const { return sqrtf(h.x * h.x + h.y * h.y); }
 *         };
 *     );
 *     h.fill(hits_in_device_memory, n, detectors::radius());
 *
 * The text becomes part of the counting kernel, which is compiled at run time, so the numbers are not stored there
 * either.
 *
 * For everything else, pass h.get() to the C API (histo.h). */
#ifndef HISTO_HPP
#define HISTO_HPP

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <stdexcept>
#include <string>
#include <tuple>
#include <type_traits>
#include <typeinfo>
#include <utility>
#include <vector>

#if __has_include(<cxxabi.h>)
#include <cxxabi.h>
#endif

#include <histo/histo.h>

/* Define a namespace and keep its text for GPUs: types of records, and functor classes without members, hence without
 * state (template arguments can be their constants). It must be valid CUDA C++17, too, without preprocessor directives
 * or headers other than histo.hpp. The types of stdint.h, NAN and the mathematical functions of C are known: sqrtf,
 * fabs. GPUs do not contract to FMA; a host compiler that does (GCC for arm64, or with -march=native) needs
 * -ffp-contract=off to give the same numbers. */
#define HISTO_SOURCE(name, ...)                                                                                        \
    namespace name                                                                                                     \
    {                                                                                                                  \
    __VA_ARGS__                                                                                                        \
    template <class type>                                                                                              \
    constexpr const char *histo_source(const type *)                                                                   \
    {                                                                                                                  \
        return "namespace " #name " { " #__VA_ARGS__ " }";                                                             \
    }                                                                                                                  \
    }                                                                                                                  \
    static_assert(true, "a semicolon follows")

namespace histo
{

/* A call into the library has failed: its sentence, and its status. */
class error : public std::runtime_error
{
  public:
    error(histo_status status, const char *sentence) : std::runtime_error(sentence), status_(status) {}
    histo_status status() const noexcept { return status_; }

  private:
    histo_status status_;
};

/* Throw an error if a call of the C API has failed. */
inline void check(histo_status status)
{
    if (status != HISTO_OK) throw error(status, histo_last_error());
}

/* The dtype of an arithmetic type. */
template <class number>
constexpr histo_dtype dtype_of()
{
    if constexpr (std::is_enum_v<number>) {
        return dtype_of<std::underlying_type_t<number>>();
    } else if constexpr (std::is_integral_v<number>) {
        static_assert(sizeof(number) <= sizeof(std::uint64_t), "integers have at most 64 bits");
        const histo_dtype of_unsigned = sizeof(number) == 1   ? HISTO_U8
                                        : sizeof(number) == 2 ? HISTO_U16
                                        : sizeof(number) == 4 ? HISTO_U32
                                                              : HISTO_U64;
        const int is_signed = std::is_signed<number>::value;
        return static_cast<histo_dtype>(of_unsigned + is_signed);
    } else {
        static_assert(std::is_same_v<number, float> || std::is_same_v<number, double>,
                      "a functor returns float, double, an integer or an enum");
        return sizeof(number) == sizeof(float) ? HISTO_F32 : HISTO_F64;
    }
}

/* The number that a functor returns for a record, as a type. */
template <class record, class functor>
using number_of = std::decay_t<std::invoke_result_t<const functor &, const record &>>;

/* The text of the HISTO_SOURCE that defines a functor; NULL if there is none, or if the functor has state. */
template <class functor, class = void>
struct source_of {
    static constexpr const char *text = nullptr;
};
template <class functor>
struct source_of<functor, std::enable_if_t<std::is_class_v<functor> && std::is_empty_v<functor> &&
                                               std::is_default_constructible_v<functor>,
                                           std::void_t<decltype(histo_source(static_cast<functor *>(nullptr)))>>> {
    static constexpr const char *text = histo_source(static_cast<functor *>(nullptr));
};

/* The name of a type in C++. */
template <class type>
const std::string &name_of()
{
#if __has_include(<cxxabi.h>)
    static const std::string name = [] {
        int status;
        const std::unique_ptr<char, void (*)(void *)> text(
            abi::__cxa_demangle(typeid(type).name(), nullptr, nullptr, &status), std::free);
        return std::string(text ? text.get() : "");
    }();
#else
    static const std::string name = typeid(type).name();
#endif
    return name;
}

/* n records in memory and a functor for each axis, as the C API takes them: views, and functions for a fill's options.
 * Views and functions refer to this object, which must outlive them. */
template <class record, class... functors>
class records
{
    static_assert(sizeof...(functors) >= 1 && sizeof...(functors) <= HISTO_MAX_AXES,
                  "there is a functor for each axis");

  public:
    records(const record *first, std::size_t n, functors... of) : functors_(std::move(of)...)
    {
        std::size_t axis = 0;
        const auto set = [&](const auto &functor) {
            views_[axis] = view<std::decay_t<decltype(functor)>>(first, n);
            functions_[axis++] = function(functor);
        };
        std::apply([&](const functors &...each) { (set(each), ...); }, functors_);
    }
    records(const records &) = delete;
    records &operator=(const records &) = delete;

    const histo_view *views() const noexcept { return views_; }

    /* These options, with these functions. */
    histo_fill_options with(histo_fill_options options) const noexcept
    {
        options.functions = functions_;
        return options;
    }

  private:
    template <class functor>
    static histo_view view(const record *first, std::size_t n)
    {
        histo_view view = histo_view_1d(first, dtype_of<number_of<record, functor>>(), static_cast<std::int64_t>(n));
        view.strides[0] = sizeof(record);
        return view;
    }

    template <class functor>
    static histo_function function(const functor &of)
    {
        histo_function function{};
        function.numbers_of = numbers_of<functor>;
        function.context = std::addressof(of);
        function.alignment = alignof(record);
        function.size = sizeof(record);
        if constexpr (source_of<functor>::text != nullptr) {
            static const std::string call = name_of<functor>() + "()";
            function.source = source_of<functor>::text;
            function.record = name_of<record>().c_str();
            function.functor = call.c_str();
        }
        return function;
    }

    /* Contiguous records get a loop of their own, which the compiler can vectorise. */
    template <class functor>
    static void numbers_of(const void *context, const void *at, std::int64_t stride, std::int64_t n,
                           void *numbers) noexcept
    {
        const functor &of = *static_cast<const functor *>(context);
        auto *__restrict to = static_cast<number_of<record, functor> *>(numbers);
        if (stride == static_cast<std::int64_t>(sizeof(record))) {
            const record *from = static_cast<const record *>(at);
            for (std::int64_t i = 0; i < n; i++)
                to[i] = std::invoke(of, from[i]);
        } else {
            const char *from = static_cast<const char *>(at);
            for (std::int64_t i = 0; i < n; i++)
                to[i] = std::invoke(of, *reinterpret_cast<const record *>(from + i * stride));
        }
    }

    std::tuple<functors...> functors_;
    histo_view views_[sizeof...(functors)];
    histo_function functions_[sizeof...(functors)];
};

/* Count records in a C API histogram with as many axes as there are functors. options: all fields but `functions`;
 * weights, mask and where may be views of members of the records. */
template <class record, class... functors>
void fill(histo_hist *hist, const record *first, std::size_t n, const histo_fill_options &options, functors... of)
{
    const records<record, functors...> all(first, n, std::move(of)...);
    const histo_fill_options filling = all.with(options);
    check(sizeof...(functors) == static_cast<std::size_t>(histo_hist_naxes(hist))
              ? histo_hist_fill(hist, all.views(), &filling)
              : histo_set_error(HISTO_INVALID, "there must be as many functors as the histogram has axes"));
}

/* Owns a histogram. */
class histogram
{
  public:
    explicit histogram(const histo_axis &axis, const histo_hist_options &options = {}) : histogram({axis}, options) {}
    histogram(std::initializer_list<histo_axis> axes, const histo_hist_options &options = {})
    {
        histo_hist *created = nullptr;
        check(histo_hist_create(&created, static_cast<int>(axes.size()), axes.begin(), &options));
        hist_.reset(created);
    }

    /* The C API's handle, still owned by this object. */
    histo_hist *get() const noexcept { return hist_.get(); }

    /* Count n records, starting at `first`, with a functor for each axis. The records are in host memory or in a GPU's,
     * where they are counted on the default stream; histo::fill takes another stream. */
    template <class record, class... functors>
    auto fill(const record *first, std::size_t n, functors... of)
        -> std::enable_if_t<(std::is_invocable_v<const functors &, const record &> && ...)>
    {
        histo::fill(get(), first, n, histo_fill_options{}, std::move(of)...);
    }

    /* Count the records of any contiguous range: a vector, an array, a span. */
    template <class range, class... functors>
    auto fill(const range &all, functors... of)
        -> std::enable_if_t<(std::is_invocable_v<const functors &, decltype(*std::data(all))> && ...)>
    {
        histo::fill(get(), std::data(all), std::size(all), histo_fill_options{}, std::move(of)...);
    }

    /* The counts, in the order of histo_hist_read_counts. */
    std::vector<std::uint64_t> counts(histo_slots slots = HISTO_BINS) const
    {
        std::vector<std::uint64_t> counts(static_cast<std::size_t>(histo_hist_size(get(), slots)));
        check(histo_hist_read_counts(get(), slots, counts.data(), static_cast<std::int64_t>(counts.size()), nullptr));
        return counts;
    }

    histo_tally tally() const
    {
        histo_tally tally;
        check(histo_hist_tally(get(), &tally));
        return tally;
    }

  private:
    struct destroyer {
        void operator()(histo_hist *hist) const noexcept { histo_hist_destroy(hist); }
    };
    std::unique_ptr<histo_hist, destroyer> hist_;
};

} // namespace histo

#endif
