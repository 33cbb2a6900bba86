/* Counts a quantity that is derived from records: the contrast of inspected places of a wafer, by a functor. */
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <vector>

#include <histo/histo.hpp>

struct inspection {
    float x, y; /* from the wafer's centre, in mm */
    float value, background;
    std::uint32_t flags; /* 1: at the edge of a die */
};

/* Samples that should not be counted anywhere become NaN, which has a slot of its own. */
struct contrast {
    float operator()(const inspection &i) const
    {
        return i.flags & 1 ? NAN : (i.value - i.background) / (i.value + i.background);
    }
};

static std::vector<inspection> inspect(int places)
{
    std::vector<inspection> all;
    std::uint32_t random = 1;
    for (int i = 0; i < places; i++) {
        random = random * 1664525u + 1013904223u;
        const float x = static_cast<float>(random >> 8 & 255) - 128, y = static_cast<float>(random >> 16 & 255) - 128;
        const float value = 100 + static_cast<float>(random >> 24) / 4;
        all.push_back({x, y, value, 100, random >> 8 & 15 ? 0u : 1u});
    }
    return all;
}

int main()
try {
    const std::vector<inspection> all = inspect(100000);

    histo::histogram contrasts(histo_axis_regular(4, 0, 0.2));
    contrasts.fill(all, contrast());
    const std::vector<std::uint64_t> counts = contrasts.counts();
    for (std::size_t bin = 0; bin < 4; bin++)
        std::cout << "contrast of bin " << bin << ": " << counts[bin] << '\n';
    const histo_tally tally = contrasts.tally();
    std::cout << "at edges: " << tally.nan[0] << ", beyond: " << tally.over[0] << '\n';

    /* Two axes have two functors: which ring of the wafer a place is in, which is the bin itself, and a member. */
    histo::histogram rings({histo_axis_integer(0, 4), histo_axis_regular(2, 100, 164)});
    const auto ring = [](const inspection &i) { return static_cast<int>(std::sqrt(i.x * i.x + i.y * i.y) / 32); };
    rings.fill(all, ring, &inspection::value);
    const std::vector<std::uint64_t> of_rings = rings.counts();
    for (std::size_t r = 0; r < 4; r++)
        std::cout << "ring " << r << ": " << of_rings[2 * r] << " dark, " << of_rings[2 * r + 1] << " bright\n";
} catch (const std::exception &failure) {
    std::cerr << failure.what() << '\n';
    return 1;
}
