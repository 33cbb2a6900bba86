/* The colours of panels. */
#include "modules/plot/panel.h"

const plot_theme plot_light = {.paper = {1, 1, 1},
                               .ink = {0.13, 0.14, 0.16},
                               .soft_ink = {0.36, 0.38, 0.41},
                               .axis = {0.45, 0.47, 0.50},
                               .grid = {0.90, 0.91, 0.92}};
const plot_theme plot_dark = {.paper = {0.09, 0.10, 0.12},
                              .ink = {0.91, 0.92, 0.93},
                              .soft_ink = {0.68, 0.70, 0.73},
                              .axis = {0.55, 0.57, 0.60},
                              .grid = {0.20, 0.21, 0.24},
                              .lighten = 0.25};

plot_color plot_tint(const plot_panel *panel, plot_color c)
{
    const double t = panel->theme->lighten;
    return (plot_color){c.r + t * (1 - c.r), c.g + t * (1 - c.g), c.b + t * (1 - c.b)};
}

double plot_fill(int overlapping)
{
    return overlapping > 3 ? 0 : overlapping > 1 ? 0.28 : 0.55; /* outlines distinguish many series */
}
