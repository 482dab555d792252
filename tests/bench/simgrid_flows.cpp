/* tests/bench/simgrid_flows.cpp - flows that share links, in SimGrid: one actor a flow.
 *
 * usage: simgrid_flows platform.xml flows.csv [finish.csv]
 */
#include "tests/bench/simgrid_common.h"

struct Flow {
    double start_s, bytes;
    int src, dst;
};

int main(int argc, char **argv)
{
    sg4::Engine e(&argc, argv);
    std::vector<Flow> flows;
    long id;
    Flow x;

    if (argc < 3) {
        std::fprintf(stderr, "usage: simgrid_flows platform.xml flows.csv [finish.csv]\n");
        return 2;
    }
    use_fluid_model("16");
    e.load_platform(argv[1]);
    std::vector<sg4::Host *> hosts = hosts_of(e);
    FILE *f = open_csv(argv[2]);
    while (std::fscanf(f, "%ld,%lf,%d,%d,%lf", &id, &x.start_s, &x.src, &x.dst, &x.bytes) == 5)
        flows.push_back(x);
    std::fclose(f);

    std::vector<double> start_s(flows.size()), finish_s(flows.size());
    double cpu_s = bench_cpu_s();
    for (size_t k = 0; k < flows.size(); k++)
        sg4::Actor::create("f", hosts[flows[k].src], [&, k]() {
            start_s[k] = flows[k].start_s;
            if (start_s[k] > 0)
                sg4::this_actor::sleep_until(start_s[k]);
            sg4::Comm::sendto(hosts[flows[k].src], hosts[flows[k].dst],
                              static_cast<uint64_t>(flows[k].bytes));
            finish_s[k] = sg4::Engine::get_clock();
        });
    e.run();
    cpu_s = bench_cpu_s() - cpu_s;
    if (argc > 3)
        write_times(argv[3], start_s, finish_s);
    report(argv[2], flows.size(), sg4::Engine::get_clock(), cpu_s);
}
