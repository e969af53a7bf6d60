#include <fmt/format.h>
#include <chrono>
#include <map>
#include "host/backend.hpp"
#include "host/input.hpp"
#include "host/observe/places.hpp"
#include "host/observe/profile.hpp"
using namespace tenfold;
int main(int argc, char** argv) {
  const int stage = atoi(argv[1]), warp = atoi(argv[2]); const std::uint64_t n = std::stoull(argv[3]);
  auto t0 = std::chrono::steady_clock::now();
  auto on = backends().back()->open(warp);
  auto mem = on->allocate(n * 4);
  std::vector<float> host(n);
  generate_input(host.data(), element_type::f32, "sum", n, 1);
  on->upload(mem->data(), host.data(), n * 4);
  observe::profiler p;
  simt::set_observer(&p);
  auto r = on->make_reduction({stage, element_type::f32, "sum", {.block = argc > 4 ? atoi(argv[4]) : 256}, n});
  auto t1 = std::chrono::steady_clock::now();
  r->enqueue(mem->data(), n);
  auto t2 = std::chrono::steady_clock::now();
  fmt::print("{} s + {} s\n", std::chrono::duration<double>(t1 - t0).count(), std::chrono::duration<double>(t2 - t1).count());
  observe::place_finder f;
  for (auto& l : p.launches()) {
    std::vector<observe::code_place> places;
    for (auto& [k, c] : l.places) if (!k.is_meeting) places.push_back(k.where);
    f.look_up(places);
    fmt::print("{} blocks {} barriers {}\n", l.kernel, l.blocks, l.block_barriers);
    std::map<std::string, observe::place_counters> lines;
    for (auto& [k, c] : l.places) {
      observe::source_place at;
      if (k.is_meeting) { auto s = observe::site_at(k.where); at = {s.where.file, s.where.line}; }
      else at = f.line_in(k.where, fmt::format("_{}.hpp", argv[5]));
      lines[fmt::format("{:>60}:{:3}", at.file, at.line)].add(c);
    }
    for (auto& [k, c] : lines) fmt::print("{} bb {}/{:.2f} gr {} sec {} gw {} sr {} w {} sw {} w {} worst {} meet {} \n", k, c.entries, double(c.entering_lanes) / (c.entries+1e-9), c.global_reads.requests, c.global_reads.sectors, c.global_writes.requests, c.shared_reads.requests, c.shared_reads.wavefronts, c.shared_writes.requests, c.shared_writes.wavefronts, c.shared_reads.worst_conflict, c.meetings);
  }
  fmt::print("{} s in all\n", std::chrono::duration<double>(std::chrono::steady_clock::now() - t0).count());
}
