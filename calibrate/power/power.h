/* calibrate/power/power.h - the clock that a power limit leaves a GPU, and what it draws.
 *
 * Model:   clock is 1 at the highest, voltage max(least, 1 - slope (1 - clock)) over that there;
 *
 *              power = idle + dynamic clock voltage^2 + memory
 *
 *          and the clock is the highest at which this stays within 99 % of the limit: boards that
 *          are capped average 98.5 to 99.6 % of it. `dynamic` is what any kernel draws at the
 *          highest clock, and the energy of all FLOPs of a step over its time; `memory` that of all
 *          its bytes: limits act on power averaged over tens of milliseconds. Compute-bound work
 *          then runs at clock^0.8, below a clock of 0.7 with clock^0.97; of memory-bound work a
 *          share goes with the clock.
 * Source:  a sweep of clocks and limits on an A100 (giordano/gpu-power-frequency-benchmarks),
 *          limits on a B300 (sinkers/gpu-power-lab), trainings under limits on P100, V100 and A40
 *          (ml-energy/zeus); the exponents are B300's.
 * Ignores: that each part of a step has its own power, when it lasts longer than tens of
 *          milliseconds; temperature; that GPUs of one type differ.
 */
#ifndef FR_CALIBRATE_POWER_POWER_H
#define FR_CALIBRATE_POWER_POWER_H

#include <stdbool.h>
#include <stddef.h>

/* A row of calibrate/power/powers.yaml, which has the sources; the build makes a constant table. */
struct fr__power {
    const char *chip;
    double idle_W, busy_W, slope, least_voltage, memory_share;
    double tensor16_pJ, tensor8_pJ, tf32_pJ, vector_pJ, byte_pJ; /* at the highest clock */
    unsigned is_burst; /* the shipped curves were measured at the highest clock */
    const char *source;
};

extern const struct fr__power fr__powers[];
extern const size_t fr__n_powers;

/* Of a device type by its name ("h100-sxm5-80gb"); NULL: not known. */
const struct fr__power *fr__power_of(const char *device);

/* Watts at the highest clock: of what goes with the clock, and of what does not. */
struct fr__load {
    double dynamic_W, memory_W;
};
/* The load of FLOPs with so much energy and of bytes, over a time at the highest clock. */
struct fr__load fr__load_of(const struct fr__power *p, double flop_J, double bytes, double time_s);

/* In (0, 1]. */
double fr__clock_under(const struct fr__power *p, struct fr__load load, double limit_W);
/* What the GPU draws at that clock. */
double fr__draw_W(const struct fr__power *p, struct fr__load load, double clock);
/* Rate of compute-bound work at that clock over that at the highest one. */
double fr__clock_rate(double clock);
/* The same of memory-bound work. */
double fr__memory_rate(const struct fr__power *p, double clock);
#endif
