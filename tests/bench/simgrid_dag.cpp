/* tests/bench/simgrid_dag.cpp - a task graph in SimGrid, the way an actor program runs it: one actor a
 * host, which takes its tasks in order; a data edge is a detached put to the edge's own mailbox,
 * whose receiver is the consumer's actor, so that the transfer starts at the put.
 *
 * usage: simgrid_dag platform.xml tasks.csv edges.csv [finish.csv]
 */
#include "tests/bench/simgrid_common.h"

#include <algorithm>

struct Edge {
    long src, dst;
    double bytes;
};

struct Graph {
    std::vector<double> flops;
    std::vector<Edge> edges;                  /* between hosts */
    std::vector<std::vector<long>> mine;      /* tasks of a host */
    std::vector<std::vector<size_t>> in, out; /* edges of a task */
};

static void read_graph(Graph &g, size_t n_hosts, const char *tasks, const char *edges)
{
    double flops;
    Edge x;
    long id;
    int host;
    FILE *f = open_csv(tasks);

    g.mine.resize(n_hosts);
    while (std::fscanf(f, "%ld,%lf,%d", &id, &flops, &host) == 3) {
        g.flops.push_back(flops);
        g.mine[host].push_back(id);
    }
    std::fclose(f);
    g.in.resize(g.flops.size());
    g.out.resize(g.flops.size());
    f = open_csv(edges);
    while (std::fscanf(f, "%ld,%ld,%lf", &x.src, &x.dst, &x.bytes) == 3) {
        if (x.bytes == 0) /* same host: the actor's order keeps it */
            continue;
        g.in[x.dst].push_back(g.edges.size());
        g.out[x.src].push_back(g.edges.size());
        g.edges.push_back(x);
    }
    std::fclose(f);
}

int main(int argc, char **argv)
{
    sg4::Engine e(&argc, argv);
    static int token;
    Graph g;

    if (argc < 4) {
        std::fprintf(stderr, "usage: simgrid_dag platform.xml tasks.csv edges.csv [finish.csv]\n");
        return 2;
    }
    use_fluid_model("64");
    e.load_platform(argv[1]);
    std::vector<sg4::Host *> hosts = hosts_of(e);
    read_graph(g, hosts.size(), argv[2], argv[3]);

    std::vector<double> start_s(g.flops.size()), finish_s(g.flops.size());
    std::vector<sg4::Mailbox *> boxes(g.edges.size());
    for (size_t k = 0; k < boxes.size(); k++)
        boxes[k] = sg4::Mailbox::by_name("e" + std::to_string(k));
    for (size_t i = 0; i < hosts.size(); i++) {
        auto actor = sg4::Actor::create("g" + std::to_string(i), hosts[i], [&, i]() {
            for (long t : g.mine[i]) {
                for (size_t k : g.in[t])
                    boxes[k]->get<int>();
                start_s[t] = sg4::Engine::get_clock();
                sg4::this_actor::execute(g.flops[t]);
                finish_s[t] = sg4::Engine::get_clock();
                for (size_t k : g.out[t])
                    boxes[k]->put_init(&token, static_cast<uint64_t>(g.edges[k].bytes))->detach();
            }
        });
        for (long t : g.mine[i])
            for (size_t k : g.in[t])
                boxes[k]->set_receiver(actor);
    }
    double cpu_s = bench_cpu_s();
    e.run();
    cpu_s = bench_cpu_s() - cpu_s;
    if (argc > 4)
        write_times(argv[4], start_s, finish_s);
    report(argv[2], g.flops.size() + g.edges.size(),
           *std::max_element(finish_s.begin(), finish_s.end()), cpu_s);
}
