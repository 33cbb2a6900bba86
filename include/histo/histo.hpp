/* histo.hpp: histograms of samples of any type, in C++17. A header alone, over the C library.
 *
 * A sample may be any struct: a *record*. A functor says what of it is counted, and a histogram has an axis for each
 * functor:
 *
 *     struct hit { float x, y, energy; int detector; };
 *     std::vector<hit> hits = …;
 *     histo::histogram h(histo_axis_regular(1000, 0, 1e4));
 *     h.fill(hits, [](const hit &h) { return std::hypot(h.x, h.y); });
 *     std::vector<std::uint64_t> counts = h.counts();
 *
 * Functors return a number of any arithmetic type of C++ but long double, or an enum, and the axis says in which bin it
 * is; a functor that computes the number of the bin itself returns an integer, for histo_axis_integer(0, bins). Counts
 * are, bit for bit, those that the library gives for an array of these numbers, with the same underflow, overflow and
 * NaN; but there is no such array: each thread calls the functor for some records, whose numbers stay in its cache, and
 * the library's own kernels count them. So a fill takes the time of one of numbers, and that of calling the functor,
 * which the compiler puts into a loop; it also vectorises it where it can.
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
 * The text becomes part of the kernel that counts, which is compiled while the program runs; so the numbers need no
 * memory there either.
 *
 * All else that histograms can do is in the C API (histo.h), which takes h.get(). */
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

/* Define a namespace and keep its text for GPUs: types of records, and classes of functors that have no members, and so
 * no state (template arguments can be their constants). It is CUDA C++17 as well: without preprocessor directives and
 * other headers than histo.hpp. The types of stdint.h, NAN and the mathematical functions of C are known: sqrtf, fabs.
 * GPUs do not contract to FMA; a compiler for the host that does (GCC for arm64, or with -march=native) needs
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

/* A call of the library has failed: its sentence, and its status. */
class error : public std::runtime_error
{
  public:
    error(histo_status status, const char *sentence) : std::runtime_error(sentence), status_(status) {}
    histo_status status() const noexcept { return status_; }

  private:
    histo_status status_;
};

/* Throw the error of a call of the C API, if it has failed. */
inline void check(histo_status status)
{
    if (status != HISTO_OK) throw error(status, histo_last_error());
}

/* The dtype of a type of numbers. */
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

/* What a functor makes of a record. */
template <class record, class functor>
using number_of = std::decay_t<std::invoke_result_t<const functor &, const record &>>;

/* The text of the HISTO_SOURCE that defines a functor; NULL if none does, or if it has a state. */
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

/* The name of a type as C++ has it. */
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
 * Views and functions refer to this object. */
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

    /* The same options, with these functions. */
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

    /* A loop of its own for neighbours, which the compiler can vectorise. */
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

/* Count records in a histogram of the C API with as many axes as there are functors. options: all but `functions`, such
 * as views of weights and masks, which may lie in the records. */
template <class record, class... functors>
void fill(histo_hist *hist, const record *first, std::size_t n, const histo_fill_options &options, functors... of)
{
    const records<record, functors...> all(first, n, std::move(of)...);
    const histo_fill_options filling = all.with(options);
    check(sizeof...(functors) == static_cast<std::size_t>(histo_hist_naxes(hist))
              ? histo_hist_fill(hist, all.views(), &filling)
              : histo_set_error(HISTO_INVALID, "there must be as many functors as the histogram has axes"));
}

/* A histogram that is destroyed with this object. */
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

    /* The histogram of the C API, which remains this object's. */
    histo_hist *get() const noexcept { return hist_.get(); }

    /* Count n records, the first of which is at `first`, by a functor for each axis. They are in host memory, or in
     * that of a GPU, whose default stream then counts them; histo::fill takes another stream. */
    template <class record, class... functors>
    auto fill(const record *first, std::size_t n, functors... of)
        -> std::enable_if_t<(std::is_invocable_v<const functors &, const record &> && ...)>
    {
        histo::fill(get(), first, n, histo_fill_options{}, std::move(of)...);
    }

    /* Count the records of anything contiguous: a vector, an array, a span. */
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
