/* calibrate/power/power.c - the clock that a power limit leaves a GPU; power.h has the model. */
#include "config.h"

#include "calibrate/power/power.h"

#include <math.h>
#include <string.h>

static const double held_share = 0.99, knee = 0.7, above_knee = 0.8, below_knee = 0.97;
enum { HALVINGS = 50 };
static const double least_clock = 0.05;

const struct fr__power *fr__power_of(const char *device)
{
    size_t length = strcspn(device, "-");

    for (size_t i = 0; i < fr__n_powers; i++)
        if (strlen(fr__powers[i].chip) == length &&
            strncmp(fr__powers[i].chip, device, length) == 0)
            return &fr__powers[i];
    return NULL;
}

struct fr__load fr__load_of(const struct fr__power *p, double flop_J, double bytes, double time_s)
{
    if (!(time_s > 0))
        return (struct fr__load){0, 0};
    return (struct fr__load){.dynamic_W = p->busy_W + flop_J / time_s,
                             .memory_W = 1e-12 * p->byte_pJ * bytes / time_s};
}

double fr__draw_W(const struct fr__power *p, struct fr__load load, double clock)
{
    double voltage = fmax(p->least_voltage, 1 - p->slope * (1 - clock));

    return p->idle_W + load.dynamic_W * clock * voltage * voltage + load.memory_W;
}

double fr__clock_under(const struct fr__power *p, struct fr__load load, double limit_W)
{
    double low = least_clock, high = 1, held_W = held_share * limit_W;

    if (fr__draw_W(p, load, 1) <= held_W)
        return 1;
    for (int i = 0; i < HALVINGS; i++) {
        double middle = (low + high) / 2;

        if (fr__draw_W(p, load, middle) <= held_W)
            low = middle;
        else
            high = middle;
    }
    return low;
}

double fr__clock_rate(double clock)
{
    if (clock >= knee)
        return pow(clock, above_knee);
    return pow(knee, above_knee) * pow(clock / knee, below_knee);
}

double fr__memory_rate(const struct fr__power *p, double clock)
{
    return 1 / (1 - p->memory_share + p->memory_share / clock);
}
