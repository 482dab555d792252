/* workloads/zoo/inception.c - Inception-v3, with or without its auxiliary classifier.
 *
 * C. Szegedy, V. Vanhoucke, S. Ioffe, J. Shlens and Z. Wojna, Rethinking the Inception Architecture
 * for Computer Vision, CVPR 2016, table 1 and figures 5 to 7, as torchvision builds it
 * (torchvision/models/inception.py), from which the names of the layers come. Training adds the
 * auxiliary loss with a weight of 0.4 (torchvision's reference training,
 * references/classification/train.py of the time); here it is a loss op of its own.
 * Ignores: the product with 0.4 and the sum of the two losses, three kernels on one number, and the
 * 8 bytes that PyTorch keeps of the 0.4.
 */
#include "config.h"

#include "workloads/zoo/nn_image.h"
#include "workloads/zoo/zoo.h"

#define N_OF(x) (sizeof(x) / sizeof((x)[0]))

enum inception_key { AUX };

static const struct fr__model_key keys[] = {
    [AUX] = {"aux", 1, 0, 1, NULL},
    {0},
};

enum window { ONE, THREE, FIVE, ROW3, COLUMN3, ROW7, COLUMN7, HALVE, INNER3, INNER5 };

/* height, width, stride, rows and columns of padding */
static const struct fr__window windows[] = {
    [ONE] = {1, 1, 1, 0, 0},     [THREE] = {3, 3, 1, 1, 1},   [FIVE] = {5, 5, 1, 2, 2},
    [ROW3] = {1, 3, 1, 0, 1},    [COLUMN3] = {3, 1, 1, 1, 0}, [ROW7] = {1, 7, 1, 0, 3},
    [COLUMN7] = {7, 1, 1, 3, 0}, [HALVE] = {3, 3, 2, 0, 0},   [INNER3] = {3, 3, 1, 0, 0},
    [INNER5] = {5, 5, 1, 0, 0},
};

/* A convolution of a branch. */
struct step {
    const char *name;
    uint32_t channels;
    enum window window;
};

/* A convolution without bias, normalised and rectified, is one layer. block "": of no block. */
static struct fr__value conv(struct fr__net *net, const char *block, const struct step *s,
                             struct fr__value x)
{
    fr__nn_layer(net, "%s%s%s", block, block[0] ? "." : "", s->name);
    x = fr__nn_batchnorm(net, "bn", fr__nn_conv(net, "", x, s->channels, windows[s->window]));
    return fr__nn_relu(net, "relu", x);
}

static struct fr__value branch(struct fr__net *net, const char *block, const struct step steps[],
                               size_t n, struct fr__value x)
{
    for (size_t i = 0; i < n; i++)
        x = conv(net, block, &steps[i], x);
    return x;
}

/* A 3x3 mean of the image, then a 1x1 convolution. */
static struct fr__value pooled(struct fr__net *net, const char *block, struct fr__value x,
                               uint32_t channels)
{
    const struct step s = {"branch_pool", channels, ONE};

    fr__nn_layer(net, "%s.avgpool", block);
    return conv(net, block, &s, fr__nn_avgpool(net, "", x, fr__square(3, 1, 1)));
}

static struct fr__value join(struct fr__net *net, const char *block, const struct fr__value x[],
                             size_t n)
{
    fr__nn_layer(net, "%s.concat", block);
    return fr__nn_concat(net, "", x, n);
}

/* Figure 5: a 5x5 and a double 3x3 window. */
static struct fr__value mixed_a(struct fr__net *net, const char *block, struct fr__value x,
                                uint32_t pool_channels)
{
    static const struct step one[] = {{"branch1x1", 64, ONE}};
    static const struct step five[] = {{"branch5x5_1", 48, ONE}, {"branch5x5_2", 64, FIVE}};
    static const struct step twice[] = {
        {"branch3x3dbl_1", 64, ONE}, {"branch3x3dbl_2", 96, THREE}, {"branch3x3dbl_3", 96, THREE}};
    struct fr__value y[4];

    y[0] = branch(net, block, one, N_OF(one), x);
    y[1] = branch(net, block, five, N_OF(five), x);
    y[2] = branch(net, block, twice, N_OF(twice), x);
    y[3] = pooled(net, block, x, pool_channels);
    return join(net, block, y, N_OF(y));
}

/* Halves the image, as figure 10. */
static struct fr__value mixed_b(struct fr__net *net, const char *block, struct fr__value x)
{
    static const struct step three[] = {{"branch3x3", 384, HALVE}};
    static const struct step twice[] = {
        {"branch3x3dbl_1", 64, ONE}, {"branch3x3dbl_2", 96, THREE}, {"branch3x3dbl_3", 96, HALVE}};
    struct fr__value y[3];

    y[0] = branch(net, block, three, N_OF(three), x);
    y[1] = branch(net, block, twice, N_OF(twice), x);
    fr__nn_layer(net, "%s.maxpool", block);
    y[2] = fr__nn_maxpool(net, "", x, fr__square(3, 2, 0));
    return join(net, block, y, N_OF(y));
}

/* Figure 6: 7x7 windows as a row and a column. c: channels inside. */
static struct fr__value mixed_c(struct fr__net *net, const char *block, struct fr__value x,
                                uint32_t c)
{
    const struct step one[] = {{"branch1x1", 192, ONE}};
    const struct step seven[] = {
        {"branch7x7_1", c, ONE}, {"branch7x7_2", c, ROW7}, {"branch7x7_3", 192, COLUMN7}};
    const struct step twice[] = {{"branch7x7dbl_1", c, ONE},
                                 {"branch7x7dbl_2", c, COLUMN7},
                                 {"branch7x7dbl_3", c, ROW7},
                                 {"branch7x7dbl_4", c, COLUMN7},
                                 {"branch7x7dbl_5", 192, ROW7}};
    struct fr__value y[4];

    y[0] = branch(net, block, one, N_OF(one), x);
    y[1] = branch(net, block, seven, N_OF(seven), x);
    y[2] = branch(net, block, twice, N_OF(twice), x);
    y[3] = pooled(net, block, x, 192);
    return join(net, block, y, N_OF(y));
}

/* Halves the image. */
static struct fr__value mixed_d(struct fr__net *net, const char *block, struct fr__value x)
{
    static const struct step three[] = {{"branch3x3_1", 192, ONE}, {"branch3x3_2", 320, HALVE}};
    static const struct step seven[] = {{"branch7x7x3_1", 192, ONE},
                                        {"branch7x7x3_2", 192, ROW7},
                                        {"branch7x7x3_3", 192, COLUMN7},
                                        {"branch7x7x3_4", 192, HALVE}};
    struct fr__value y[3];

    y[0] = branch(net, block, three, N_OF(three), x);
    y[1] = branch(net, block, seven, N_OF(seven), x);
    fr__nn_layer(net, "%s.maxpool", block);
    y[2] = fr__nn_maxpool(net, "", x, fr__square(3, 2, 0));
    return join(net, block, y, N_OF(y));
}

/* A row and a column window side by side. */
static struct fr__value fork_out(struct fr__net *net, const char *block, const char *const names[3],
                                 struct fr__value x)
{
    const struct step row = {names[0], 384, ROW3}, column = {names[1], 384, COLUMN3};
    const struct fr__value y[2] = {conv(net, block, &row, x), conv(net, block, &column, x)};

    fr__nn_layer(net, "%s.%s", block, names[2]);
    return fr__nn_concat(net, "", y, N_OF(y));
}

/* Figure 7: expanded filter banks. */
static struct fr__value mixed_e(struct fr__net *net, const char *block, struct fr__value x)
{
    static const struct step one[] = {{"branch1x1", 320, ONE}};
    static const struct step three[] = {{"branch3x3_1", 384, ONE}};
    static const struct step twice[] = {{"branch3x3dbl_1", 448, ONE},
                                        {"branch3x3dbl_2", 384, THREE}};
    static const char *const names[] = {"branch3x3_2a", "branch3x3_2b", "branch3x3_concat"};
    static const char *const twice_names[] = {"branch3x3dbl_3a", "branch3x3dbl_3b",
                                              "branch3x3dbl_concat"};
    struct fr__value y[4];

    y[0] = branch(net, block, one, N_OF(one), x);
    y[1] = fork_out(net, block, names, branch(net, block, three, N_OF(three), x));
    y[2] = fork_out(net, block, twice_names, branch(net, block, twice, N_OF(twice), x));
    y[3] = pooled(net, block, x, 192);
    return join(net, block, y, N_OF(y));
}

static struct fr__value stem(struct fr__net *net)
{
    static const struct step before[] = {
        {"Conv2d_1a_3x3", 32, HALVE}, {"Conv2d_2a_3x3", 32, INNER3}, {"Conv2d_2b_3x3", 64, THREE}};
    static const struct step after[] = {{"Conv2d_3b_1x1", 80, ONE}, {"Conv2d_4a_3x3", 192, INNER3}};
    struct fr__value x = fr__nn_images(net, 3);

    x = branch(net, "", before, N_OF(before), x);
    fr__nn_layer(net, "maxpool1");
    x = fr__nn_maxpool(net, "", x, fr__square(3, 2, 0));
    x = branch(net, "", after, N_OF(after), x);
    fr__nn_layer(net, "maxpool2");
    return fr__nn_maxpool(net, "", x, fr__square(3, 2, 0));
}

static struct fr__value classify(struct fr__net *net, const char *layer, struct fr__value x)
{
    fr__nn_layer(net, "%s", layer);
    return fr__nn_bias(net, "bias", fr__nn_linear(net, "", x, 1000));
}

/* Logits out of the middle of the network, so that its first half hears of the loss. */
static struct fr__value auxiliary(struct fr__net *net, struct fr__value x)
{
    static const struct step steps[] = {{"conv0", 128, ONE}, {"conv1", 768, INNER5}};

    fr__nn_layer(net, "AuxLogits.pool");
    x = fr__nn_avgpool(net, "", x, fr__square(5, 3, 0));
    x = branch(net, "AuxLogits", steps, N_OF(steps), x);
    fr__nn_layer(net, "AuxLogits.avgpool");
    return classify(net, "AuxLogits.fc", fr__nn_avgpool_to(net, "", x, 1));
}

static void build(struct fr__net *net, const uint32_t values[])
{
    static const char *const losses[] = {"loss", "AuxLogits.loss"};
    struct fr__value x, logits[2];

    x = stem(net);
    x = mixed_a(net, "Mixed_5b", x, 32);
    x = mixed_a(net, "Mixed_5c", x, 64);
    x = mixed_a(net, "Mixed_5d", x, 64);
    x = mixed_b(net, "Mixed_6a", x);
    x = mixed_c(net, "Mixed_6b", x, 128);
    x = mixed_c(net, "Mixed_6c", x, 160);
    x = mixed_c(net, "Mixed_6d", x, 160);
    x = mixed_c(net, "Mixed_6e", x, 192);
    if (values[AUX])
        logits[1] = auxiliary(net, x);
    x = mixed_d(net, "Mixed_7a", x);
    x = mixed_e(net, "Mixed_7b", x);
    x = mixed_e(net, "Mixed_7c", x);
    fr__nn_layer(net, "avgpool");
    x = fr__nn_avgpool_to(net, "", x, 1);
    fr__nn_layer(net, "dropout");
    x = fr__nn_dropout(net, "", x);
    logits[0] = classify(net, "fc", x);
    fr__nn_losses_of(net, losses, logits, values[AUX] ? 2 : 1);
}

const struct fr__family fr__family_inception = {
    .group = "Convolutional",
    .batch = 64,
    .image_size = 299,
    .keys = keys,
    .build = build,
};
