/* tests/bench/simgrid_ring.cpp - ring all-reduce in SimGrid: 2 (P - 1) rounds, in each of which a rank
 * sends bytes / P to the next and receives from the one before. One actor a rank.
 *
 * usage: simgrid_ring platform.xml bytes
 */
#include "tests/bench/simgrid_common.h"

int main(int argc, char **argv)
{
    sg4::Engine e(&argc, argv);
    static int token;

    if (argc < 3) {
        std::fprintf(stderr, "usage: simgrid_ring platform.xml bytes\n");
        return 2;
    }
    use_fluid_model("64");
    e.load_platform(argv[1]);
    std::vector<sg4::Host *> hosts = hosts_of(e);
    size_t n = hosts.size(), rounds = 2 * (n - 1);
    uint64_t chunk_bytes = static_cast<uint64_t>(std::atof(argv[2]) / static_cast<double>(n));

    for (size_t i = 0; i < n; i++)
        sg4::Actor::create("r" + std::to_string(i), hosts[i], [=]() {
            auto *out = sg4::Mailbox::by_name("m" + std::to_string((i + 1) % n));
            auto *in = sg4::Mailbox::by_name("m" + std::to_string(i));

            for (size_t r = 0; r < rounds; r++) {
                auto sent = out->put_async(&token, chunk_bytes);
                in->get<int>();
                sent->wait();
            }
        });
    double cpu_s = bench_cpu_s();
    e.run();
    report(argv[1], rounds * n, sg4::Engine::get_clock(), bench_cpu_s() - cpu_s);
}
