// SPDX-License-Identifier: GPL-2.0-only
// FunctionPaths: the numbered paths of a kernel function, and the instruments that tell which ones
// are taken.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "lib/base/result.h"
#include "lib/blocks/code_image.h"
#include "lib/blocks/flow_graph.h"
#include "lib/blocks/path_numbers.h"
#include "lib/blocks/source_lines.h"

namespace fkt {

class FunctionPaths {
 public:
  // image: must outlive this. Error (usage): the paths of the function cannot be told, and why;
  // (format): it is no code.
  static Result<FunctionPaths> of(const CodeImage& image, const CodeFunction& function);

  const FlowGraph& graph() const { return graph_; }
  const PathNumbers& numbers() const { return numbers_; }

  // Returns the instruments' places: the function's calls, and the watched ways.
  std::vector<std::string> places() const;
  // Returns the way that an event of this name tells of, as places() call it in a recording;
  // nothing: none.
  std::optional<std::uint32_t> way_named(std::string_view name) const;

  // Returns how a path ends, by its last way: "returns", "to 3", "tail_call vfs_read".
  std::string end_text(std::uint32_t way) const;
  // Returns the blocks of a path, in its order.
  std::vector<std::uint32_t> blocks_of(const Path& path) const;
  // Returns the source lines of a path's code, in its order, each file before its lines:
  // "fs/read_write.c:450,453 include/linux/fs.h:9". Empty: none is known.
  std::string lines_of(const Path& path, SourceLines& lines) const;

 private:
  void add_way(const FlowEdge& edge);
  void find_places();
  std::uint64_t place_of(std::uint32_t way) const;
  std::string way_name(std::uint32_t way) const;

  const CodeImage* image_ = nullptr;
  FlowGraph graph_;
  std::vector<PathWay> ways_;              // until they are numbered
  std::vector<std::vector<FlowEdge>> of_;  // edges, by way
  PathNumbers numbers_;
  std::map<std::string, std::uint32_t, std::less<>> names_;  // of watched ways
};

}  // namespace fkt
