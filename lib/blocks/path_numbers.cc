// SPDX-License-Identifier: GPL-2.0-only
#include "lib/blocks/path_numbers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>

#include <fmt/core.h>

namespace fkt {
namespace {

constexpr std::uint64_t kMostPaths = std::uint64_t{1} << 62;
// How frequent ways are taken to be: of those that leave a block a rare one this much less often
// than another, and a loop so many times.
constexpr double kRare = 1.0 / 64;
constexpr double kRounds = 8;

// Sets of vertices that are connected.
class Connected {
 public:
  explicit Connected(std::size_t vertices) : parent_(vertices) {
    std::iota(parent_.begin(), parent_.end(), 0U);
  }
  // Returns false if they were connected already.
  bool join(std::uint32_t one, std::uint32_t other) {
    const std::uint32_t a = root(one), b = root(other);
    parent_[a] = b;
    return a != b;
  }

 private:
  std::uint32_t root(std::uint32_t at) {
    while (parent_[at] != at) at = parent_[at] = parent_[parent_[at]];
    return at;
  }
  std::vector<std::uint32_t> parent_;
};

}  // namespace

class PathNumbers::Builder {
 public:
  Builder(PathNumbers& numbers, std::uint64_t most)
      : numbers_(numbers), ways_(numbers.ways_), uses_(numbers.uses_), most_(most) {}

  Status build() {
    numbers_.out_.resize(numbers_.blocks_);
    uses_.resize(ways_.size());
    for (std::uint32_t i = 0; i < ways_.size(); i++) numbers_.out_[ways_[i].from].push_back(i);
    FKT_TRY(cut_loops());
    FKT_TRY(count_paths());
    estimate();
    make_edges();
    FKT_TRY(choose_chords());
    add_up();
    return Done{};
  }

 private:
  // An edge of the graph without loops: a way, the begin of a path, or the end of one by a cut way.
  struct Edge {
    std::uint32_t from = 0, to = 0;    // vertices: blocks, entry(), exit()
    std::optional<std::uint32_t> way;  // nothing: a path begins at `to`
    std::uint64_t value = 0;
    double frequency = 0;
    bool is_free = false;     // when it is passed is known anyway
    bool is_hidden = false;   // it cannot be watched
    bool is_in_tree = false;  // it need not be
  };

  std::uint32_t entry() const { return numbers_.blocks_; }
  std::uint32_t exit() const { return numbers_.blocks_ + 1; }
  static bool leaves(const PathWay& way) { return way.to == PathWay::kOutside; }
  std::string name(std::uint32_t way) const {
    return leaves(ways_[way]) ? fmt::format("out of block {}", ways_[way].from)
                              : fmt::format("{}-{}", ways_[way].from, ways_[way].to);
  }
  Error hidden(std::uint32_t way) const {
    return {ErrorCode::usage,
            fmt::format("whether way {} is taken cannot be seen, and does not follow from others "
                        "(fkt_blocks shows them)",
                        name(way))};
  }

  void cut(std::uint32_t way) {
    uses_[way].is_cut = true;
    cut_places_[ways_[way].place]++;
  }

  // Walks through all blocks, depth first, cuts what leads back to a block on the way there, and
  // notes the order in which the blocks were left.
  Status cut_loops() {
    enum class State : std::uint8_t { unknown, open, left };
    std::vector<State> states(numbers_.blocks_);
    std::vector<std::pair<std::uint32_t, std::size_t>> walk{{0, 0}};  // block, next of its ways
    is_header_.assign(numbers_.blocks_, false);
    while (!walk.empty()) {
      auto& [block, next] = walk.back();
      states[block] = State::open;
      if (next == numbers_.out_[block].size()) {
        states[block] = State::left;
        left_.push_back(block);
        walk.pop_back();
        continue;
      }
      const std::uint32_t way = numbers_.out_[block][next++];
      uses_[way].is_reached = true;
      if (leaves(ways_[way])) continue;
      const std::uint32_t to = ways_[way].to;
      if (states[to] == State::open) {
        if (ways_[way].place == 0) return hidden(way);
        cut(way);
        is_header_[to] = true;
      } else if (states[to] == State::unknown) {
        walk.emplace_back(to, 0);
      }
    }
    return Done{};
  }

  // Returns the number of paths that begin with the way.
  std::uint64_t paths_by(std::uint32_t way) const {
    return leaves(ways_[way]) || uses_[way].is_cut ? 1 : from_[ways_[way].to];
  }
  std::uint64_t paths_from(std::uint32_t block) const {
    std::uint64_t sum = 0;
    for (const std::uint32_t way : numbers_.out_[block]) {
      sum = std::min(kMostPaths, sum + paths_by(way));
    }
    return sum;
  }
  // Returns the block's way that most paths begin with, and that can be cut.
  std::optional<std::uint32_t> way_to_cut(std::uint32_t block) const {
    std::optional<std::uint32_t> best;
    for (const std::uint32_t way : numbers_.out_[block]) {
      const std::uint64_t paths = paths_by(way);
      if (paths > 1 && ways_[way].place != 0 && !cut_places_.contains(ways_[way].place) &&
          (!best || paths > paths_by(*best))) {
        best = way;
      }
    }
    return best;
  }

  // Counts the paths from each block and gives each way the sum of those before it.
  Status count_paths() {
    from_.resize(numbers_.blocks_);
    for (const std::uint32_t block : left_) {
      while (paths_from(block) > most_) {
        const auto way = way_to_cut(block);
        if (!way) break;
        cut(*way);
      }
      from_[block] = paths_from(block);
      std::uint64_t sum = 0;
      for (const std::uint32_t way : numbers_.out_[block]) {
        uses_[way].value = sum;
        sum = std::min(kMostPaths, sum + paths_by(way));
      }
    }
    std::vector<bool> begins(numbers_.blocks_);
    begins[0] = true;
    for (std::uint32_t i = 0; i < ways_.size(); i++) {
      if (uses_[i].is_cut) begins[ways_[i].to] = true;
    }
    for (std::uint32_t block = 0; block < numbers_.blocks_; block++) {
      if (!begins[block]) continue;
      numbers_.first_.push_back({block, numbers_.paths_});
      numbers_.paths_ = std::min(kMostPaths, numbers_.paths_ + from_[block]);
    }
    if (numbers_.paths_ == kMostPaths) {
      return Error{ErrorCode::usage,
                   "it has more than 2^62 paths, which cannot be cut into shorter "
                   "ones where a way can be seen"};
    }
    return Done{};
  }

  // Estimates how often each way is taken, so that the chords are seldom ones.
  void estimate() {
    frequency_.assign(ways_.size(), 0);
    std::vector<double> blocks(numbers_.blocks_);
    blocks[0] = 1;
    for (auto block = left_.rbegin(); block != left_.rend(); ++block) {
      const auto& out = numbers_.out_[*block];
      if (is_header_[*block]) blocks[*block] *= kRounds;
      double sum = 0;
      for (const std::uint32_t way : out) sum += ways_[way].is_rare ? kRare : 1;
      for (const std::uint32_t way : out) {
        frequency_[way] = blocks[*block] * (ways_[way].is_rare ? kRare : 1) / sum;
        if (!leaves(ways_[way])) blocks[ways_[way].to] += frequency_[way];
      }
    }
  }

  void make_edges() {
    for (const Begin& first : numbers_.first_) {
      edges_.push_back({entry(), first.block, std::nullopt, first.value, 0, true});
    }
    for (std::uint32_t i = 0; i < ways_.size(); i++) {
      if (!uses_[i].is_reached) continue;
      const bool ends = leaves(ways_[i]) || uses_[i].is_cut;
      edges_.push_back({ways_[i].from, ends ? exit() : ways_[i].to, i, uses_[i].value,
                        frequency_[i], uses_[i].is_cut, ways_[i].place == 0});
    }
  }

  // Hidden ones come into the tree first, then the frequent ones; free ones where nothing else
  // connects the graph. Error: not all hidden ones are in it.
  Status make_tree() {
    const auto rank = [](const Edge& edge) {
      return std::tuple(edge.is_hidden, !edge.is_free, edge.frequency);
    };
    std::vector<Edge*> order;
    for (Edge& edge : edges_) order.push_back(&edge);
    std::ranges::stable_sort(order,
                             [&](auto* one, auto* other) { return rank(*one) > rank(*other); });
    Connected connected(numbers_.blocks_ + 2);
    connected.join(exit(), entry());
    for (Edge* edge : order) {
      edge->is_in_tree = connected.join(edge->from, edge->to);
      if (edge->is_hidden && !edge->is_in_tree) return hidden(*edge->way);
    }
    return Done{};
  }

  // Returns one of two watched ways that only the same instruction could tell of; nullptr: none.
  Edge* clash() {
    std::map<std::uint64_t, Edge*> at;
    for (Edge& edge : edges_) {
      if (!edge.way || (edge.is_in_tree && !edge.is_free)) continue;
      const auto [found, is_new] = at.emplace(ways_[*edge.way].place, &edge);
      if (!is_new) return edge.is_free ? found->second : &edge;
    }
    return nullptr;
  }

  Status choose_chords() {
    FKT_TRY(make_tree());
    while (Edge* edge = clash()) {
      if (edge->is_free) return hidden(*edge->way);
      edge->is_hidden = true;
      FKT_TRY(make_tree());
    }
    return Done{};
  }

  // Returns for each vertex the sum of the values on the tree's way there from the exit.
  std::vector<std::uint64_t> sums_in_tree() const {
    std::vector<std::vector<const Edge*>> at(numbers_.blocks_ + 2);
    for (const Edge& edge : edges_) {
      if (!edge.is_in_tree) continue;
      at[edge.from].push_back(&edge);
      at[edge.to].push_back(&edge);
    }
    std::vector<std::uint64_t> sums(at.size());
    std::vector<bool> is_known(at.size());
    std::vector<std::uint32_t> open{exit(), entry()};
    is_known[exit()] = is_known[entry()] = true;
    while (!open.empty()) {
      const std::uint32_t vertex = open.back();
      open.pop_back();
      for (const Edge* edge : at[vertex]) {
        const std::uint32_t other = edge->from == vertex ? edge->to : edge->from;
        if (is_known[other]) continue;
        sums[other] =
            edge->from == vertex ? sums[vertex] + edge->value : sums[vertex] - edge->value;
        is_known[other] = true;
        open.push_back(other);
      }
    }
    return sums;
  }

  void add_up() {
    const auto sums = sums_in_tree();
    numbers_.begins_.assign(numbers_.blocks_, 0);
    for (const Edge& edge : edges_) {
      const std::uint64_t added = edge.value + sums[edge.from] - sums[edge.to];
      if (!edge.way) {
        numbers_.begins_[edge.to] = added;
        continue;
      }
      uses_[*edge.way].added = added;
      uses_[*edge.way].is_watched = edge.is_free || !edge.is_in_tree;
    }
  }

  PathNumbers& numbers_;
  const std::vector<PathWay>& ways_;
  std::vector<Use>& uses_;
  const std::uint64_t most_;
  std::vector<std::uint32_t> left_;  // blocks, each behind all that follow it
  std::vector<bool> is_header_;      // of loops, by block
  std::vector<std::uint64_t> from_;  // number of paths, by block
  std::vector<double> frequency_;    // by way
  std::vector<Edge> edges_;
  std::map<std::uint64_t, unsigned> cut_places_;
};

Result<PathNumbers> PathNumbers::of(std::uint32_t blocks, std::vector<PathWay> ways,
                                    std::uint64_t most_from_block) {
  PathNumbers numbers;
  numbers.blocks_ = blocks;
  numbers.ways_ = std::move(ways);
  FKT_TRY(Builder(numbers, most_from_block).build());
  return numbers;
}

Path PathNumbers::path(std::uint64_t number) const {
  const auto begin = std::prev(std::ranges::upper_bound(first_, number, {}, &Begin::value));
  Path path{begin->block, {}};
  number -= begin->value;
  for (std::uint32_t block = begin->block;;) {
    const auto& out = out_[block];
    const auto way = *std::prev(std::ranges::upper_bound(
        out, number, {}, [&](std::uint32_t one) { return uses_[one].value; }));
    number -= uses_[way].value;
    path.ways.push_back(way);
    if (ways_[way].to == PathWay::kOutside || uses_[way].is_cut) return path;
    block = ways_[way].to;
  }
}

}  // namespace fkt
