#!/usr/bin/env python3
"""tests/oracles/length_variation.py - how far the work of a rank's batch varies where sentences do.

usage: length_variation.py [--sentences N]

Draws sentence pairs as published statistics say, batches them as NVIDIA's two translation recipes
do, and prints the coefficient of variation of a batch's work, what the slowest of n ranks takes
more than the mean one, and the coefficient of normal numbers of which the slowest of 8 takes as
much. The last is the recipes' --length-variation. Nothing here reads a measured step.

The pairs. Lengths of prose are about log-normal (C. B. Williams, Biometrika 31, 1940), with a
standard deviation of the logarithm of 0.6 (coefficients of variation of 0.6 to 0.7: G. U. Yule,
Biometrika 30, 1939), here of 27 tokens in the mean, at most 80 (clean-corpus-n.perl 1 80 of both
recipes' preparation). A German sentence of an English one of l characters is normal around its
length with a variance of 7.3 l (W. A. Gale, K. W. Church, Computational Linguistics 19(1), 1993,
section 3.2); a token is taken as 5 characters.

Transformer (PyTorch/Translation/Transformer, fairseq/data): pairs are sorted by source and then by
target length; a batch is filled until the longest of either side times its sentences would pass
max_tokens, then cut to a multiple of 8; the batches are shuffled and dealt to the ranks one by one.
The work is that of the padded source by the encoder's 75.5 M weights and of the padded target by
the decoder's 100.7 M and the 33.8 M of its vocabulary (6 layers of width 1024 and 4096, 33 000
words).

GNMT (PyTorch/Translation/GNMT, seq2seq/data/sampler.py): five buckets by the longer side, at most
50 tokens; all ranks of a step take 128 random pairs each of one bucket. The work is that of the
longest source and of the longest target, with the encoder's 5 and the decoder's 4 LSTM layers of
8.4 M (inputs of 2048 in all but the first of each) and 32.8 M of the vocabulary.

Ignores: attention's share, which grows with the square of the length (1 % at 27 tokens); that
kernels of unequal shapes are unequally fast.
"""
import math
import random
import sys

MEAN_TOKENS, SIGMA, MOST_TOKENS, CHARACTERS, VARIANCE = 27, .6, 80, 5, 7.3


def draw_pairs(n, rng):
    """(source, target) tokens of n sentence pairs."""
    pairs = []
    mu = math.log(MEAN_TOKENS) - SIGMA ** 2 / 2
    while len(pairs) < n:
        source = rng.lognormvariate(mu, SIGMA)
        target = rng.gauss(source, math.sqrt(VARIANCE * source / CHARACTERS))
        pair = round(source) + 1, round(target) + 1  # with the end of the sentence
        if min(pair) > 1 and max(pair) <= MOST_TOKENS:
            pairs.append(pair)
    return pairs


def transformer(pairs, max_tokens):
    """The work of each batch."""
    batches, batch, longest = [], [], 0
    for pair in sorted(pairs):
        longest = max(longest, *pair)
        if batch and (len(batch) + 1) * longest > max_tokens:
            n = len(batch) // 8 * 8 or len(batch)
            batches.append(batch[:n])
            batch = batch[n:]
            longest = max(max(p) for p in batch + [pair])
        batch.append(pair)
    return [len(b) * (75.5 * max(s for s, _ in b) + 134.5 * max(t for _, t in b)) for b in batches]


def gnmt(pairs, rng):
    """The work of batches of one step, bucket by bucket: lists whose ranks wait for each other."""
    width, steps = 10, []
    buckets = [[] for _ in range(5)]
    for pair in pairs:
        if max(pair) <= 50:
            buckets[min(max(pair) // width, 4)].append(pair)
    for bucket in buckets:
        rng.shuffle(bucket)
        batches = [bucket[i:i + 128] for i in range(0, len(bucket) - 127, 128)]
        steps.append([5 * 8.4 * max(s for s, _ in b) + (4 * 8.4 + 32.8) * max(t for _, t in b)
                      for b in batches])
    return steps


def largest(works, n, rng):
    """The mean of the largest of n, over the mean."""
    mean = sum(works) / len(works)
    draws = [max(rng.choice(works) for _ in range(n)) for _ in range(20000)]
    return sum(draws) / len(draws) / mean


def largest_normal(n):
    below = [0.5 * math.erfc(-x / 64 / math.sqrt(2)) for x in range(-576, 577)]
    return sum((1 if x > 0 else .5 if x == 0 else 0) - b ** n
               for x, b in zip(range(-576, 577), below)) / 64


def line(name, steps, rng):
    """steps: lists of works whose ranks wait for each other, all as likely as they are long."""
    n_all = sum(map(len, steps))
    cv, slowest = 0, {n: 0 for n in (2, 4, 8, 16)}
    for works in filter(None, steps):
        part = len(works) / n_all
        mean = sum(works) / len(works)
        cv += part * math.sqrt(sum((w / mean - 1) ** 2 for w in works) / len(works))
        for n in slowest:
            slowest[n] += part * largest(works, n, rng)
    print("%-24s %5.1f %%   %s   %.3f" %
          (name, 100 * cv, "  ".join("%5.1f %%" % (100 * slowest[n] - 100) for n in slowest),
           (slowest[8] - 1) / largest_normal(8)))


def main():
    n = int(sys.argv[2]) if sys.argv[1:2] == ["--sentences"] else 1000000
    rng = random.Random(1)
    pairs = draw_pairs(n, rng)
    print("%-24s %7s   %s   as normal numbers" % ("recipe", "CV", "  ".join(
        "%7s" % ("of %d" % k) for k in (2, 4, 8, 16))))
    for max_tokens in (2560, 5120, 10240):
        line("Transformer, %d" % max_tokens, [transformer(pairs, max_tokens)], rng)
    line("GNMT", gnmt(pairs, rng), rng)


main()
