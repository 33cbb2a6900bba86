/* Counts records in a GPU's memory: the functor's text becomes part of the kernel, which is compiled while the program
 * runs. */
#include <cmath>
#include <cstdint>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <vector>

#include <cuda_runtime_api.h>

#include <histo/histo.hpp>

/* clang-format off */
HISTO_SOURCE(wafer,

struct inspection {
    float value, background;
    std::uint32_t flags; /* 1: at the edge of a die */
};

struct contrast {
    float operator()(const inspection &i) const
    {
        return i.flags & 1 ? NAN : (i.value - i.background) / (i.value + i.background);
    }
};

);
/* clang-format on */

int main()
try {
    int gpus;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess || gpus == 0) {
        std::cout << "there is no GPU in this machine\n";
        return 0;
    }
    std::vector<wafer::inspection> all;
    for (std::uint32_t i = 0; i < 100000; i++)
        all.push_back({100 + static_cast<float>(i % 50), 100, i % 16 ? 0u : 1u});

    wafer::inspection *inspections;
    const std::size_t bytes = all.size() * sizeof all[0];
    if (cudaMalloc(reinterpret_cast<void **>(&inspections), bytes) != cudaSuccess ||
        cudaMemcpy(inspections, all.data(), bytes, cudaMemcpyHostToDevice) != cudaSuccess)
        throw std::runtime_error("no memory on the GPU");

    histo::histogram contrasts(histo_axis_regular(4, 0, 0.2));
    contrasts.fill(inspections, all.size(), wafer::contrast());
    for (std::uint64_t count : contrasts.counts())
        std::cout << count << '\n';
    std::cout << "at edges: " << contrasts.tally().nan[0] << '\n';
    cudaFree(inspections);
} catch (const std::exception &failure) {
    std::cerr << failure.what() << '\n';
    return 1;
}
