// How candidates on a ladder compare, from times that are made up.
#include "host/cli/measuring/ladder.hpp"

#include <gtest/gtest.h>

#include <vector>

namespace tenfold::cli {
namespace {

constexpr std::uint64_t n = 1 << 22, other_n = 1 << 23;

class Comparison : public testing::Test {
 protected:
  /// @param seconds of its only run
  void add(const candidate& who, double seconds, verdict v = verdict::right,
           std::uint64_t size = n) {
    result r{.who = who, .at = {.n = size}, .seconds = {seconds}, .verdict = v};
    r.time = measure::summarize(r.seconds);
    rows_.push_back({.who = &who, .n = size, .measured = r});
  }
  void refuse(const candidate& who) {
    rows_.push_back({.who = &who, .n = n, .refusal = "no such operator"});
  }
  static candidate of(const measure::peer& p, bool on_cpu = false, bool is_hidden = false) {
    candidate made = measure::peer_candidate(p, on_cpu);
    made.is_hidden = is_hidden;
    return made;
  }

  const measure::peer library_peer_{.name = "library"}, host_peer_{.name = "host"},
      copy_peer_{.name = "copy", .kind = measure::peer_kind::copy},
      reader_peer_{.name = "read", .kind = measure::peer_kind::reader};
  const candidate first_ = measure::stage_candidate(catalogue[0], {}),
                  second_ = measure::stage_candidate(catalogue[1], {}),
                  library_ = of(library_peer_), host_ = of(host_peer_, true),
                  copy_ = of(copy_peer_), reader_ = of(reader_peer_, false, true);
  std::vector<ladder_row> rows_;
};

TEST_F(Comparison, NoShareExceedsTheCeiling) {
  add(first_, 8);
  add(second_, 2);
  add(library_, 1);
  add(host_, 0.1);
  add(reader_, 4);
  compare(rows_, 0);
  EXPECT_EQ(find_ceiling(rows_).bytes_per_second, 4 * n);
  EXPECT_EQ(find_ceiling(rows_).reader, "library");
  EXPECT_EQ(rows_[0].measured->share_of_ceiling, 0.125);
  EXPECT_EQ(rows_[1].measured->share_of_ceiling, 0.5);
  EXPECT_EQ(rows_[2].measured->share_of_ceiling, 1.0);
  EXPECT_FALSE(rows_[3].measured->share_of_ceiling) << "it reads another memory";
  EXPECT_EQ(rows_[4].measured->share_of_ceiling, 0.25);
  EXPECT_FALSE(rows_[0].measured->share_of_peak) << "none is known";
}

TEST_F(Comparison, WithoutAReaderThereIsNoCeiling) {
  add(first_, 8);
  add(library_, 1);
  add(reader_, 0.5, verdict::wrong);
  compare(rows_, n);
  EXPECT_EQ(find_ceiling(rows_).bytes_per_second, 0);
  EXPECT_FALSE(rows_[0].measured->share_of_ceiling);
  EXPECT_EQ(rows_[0].measured->share_of_peak, 0.5);
}

TEST_F(Comparison, WhatIsWrongIsNoMeasure) {
  add(first_, 8);
  add(second_, 1, verdict::wrong);
  add(library_, 2, verdict::wrong);
  add(reader_, 4);
  compare(rows_, 0);
  EXPECT_EQ(find_ceiling(rows_).reader, "read");
  EXPECT_EQ(find_best_peer(rows_, n), nullptr);
  EXPECT_FALSE(rows_[0].measured->against_best_peer);
  EXPECT_EQ(find_best_stage(rows_, n), &rows_[0]);
}

TEST_F(Comparison, BestPeerIsALibraryOnTheDevice) {
  add(first_, 8);
  add(host_, 0.1);
  add(copy_, 1);
  add(library_, 4);
  add(reader_, 2);
  compare(rows_, 0);
  EXPECT_EQ(find_best_peer(rows_, n), &rows_[3]);
  EXPECT_EQ(rows_[0].measured->against_best_peer, 0.5);
  EXPECT_EQ(rows_[1].measured->against_best_peer, 40.0);
  EXPECT_FALSE(rows_[2].measured->against_best_peer) << "a copy reduces nothing";
  EXPECT_EQ(rows_[3].measured->against_best_peer, 1.0);
}

TEST_F(Comparison, BestPeerIsOnTheHostWhereTheDeviceHasNone) {
  add(first_, 8);
  add(host_, 2);
  refuse(library_);
  compare(rows_, 0);
  EXPECT_EQ(find_best_peer(rows_, n), &rows_[1]);
  EXPECT_EQ(rows_[0].measured->against_best_peer, 0.25);
}

TEST_F(Comparison, EachSizeHasItsOwnBest) {
  add(first_, 1);
  add(second_, 2);
  add(library_, 4);
  add(first_, 3, verdict::right, other_n);
  add(second_, 2, verdict::right, other_n);
  add(library_, 6, verdict::right, other_n);
  compare(rows_, 0);
  EXPECT_EQ(find_best_stage(rows_, n), &rows_[0]);
  EXPECT_EQ(find_best_stage(rows_, other_n), &rows_[4]);
  EXPECT_EQ(rows_[0].measured->against_best_peer, 4.0);
  EXPECT_EQ(rows_[3].measured->against_best_peer, 2.0);
}

TEST_F(Comparison, OnlyAReaderThatIsWrongIsShown) {
  add(reader_, 1);
  add(reader_, 1, verdict::wrong);
  add(first_, 1);
  EXPECT_FALSE(rows_[0].is_shown());
  EXPECT_TRUE(rows_[1].is_shown());
  EXPECT_TRUE(rows_[2].is_shown());
}

}  // namespace
}  // namespace tenfold::cli
