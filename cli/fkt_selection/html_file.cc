// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_selection/html_file.h"

#include <array>
#include <bit>
#include <filesystem>
#include <optional>

#include <zlib.h>

#include "cli/base/messages.h"
#include "cli/base/units.h"
#include "cli/fkt_selection/api.h"
#include "cli/fkt_selection/async_facts.h"
#include "cli/fkt_selection/density_list.h"
#include "cli/fkt_selection/duration_bars.h"
#include "cli/fkt_selection/event_list.h"
#include "cli/fkt_selection/lane_list.h"
#include "cli/fkt_selection/page.h"
#include "lib/base/json_writer.h"
#include "lib/timeline/window_stats.h"

namespace fkt::cli {
namespace {

constexpr std::uint64_t kMostEvents = 300'000;  // whose texts a browser holds without effort
// JSON of lanes becomes at least this many times smaller. More than that is not compressed in vain,
// and what a browser unpacks stays below 100 MB with files of the usual size.
constexpr std::uint64_t kPacked = 20;

// The amounts of detail that are tried in this order; the first that fits is used.
struct Detail {
  std::uint64_t tasks;
  std::size_t wakes;
  std::uint32_t finest, coarsest;  // columns of the lanes, powers of 2
  std::uint32_t overview;          // columns
};
constexpr std::array<Detail, 5> kDetails = {{{10'000, 100'000, 1 << 20, 1 << 14, 2000},
                                             {10'000, 2000, 1 << 16, 1 << 12, 2000},
                                             {300, 2000, 1 << 13, 1 << 11, 2000},
                                             {60, 0, 1 << 12, 1 << 10, 1000},
                                             {20, 0, 1 << 10, 1 << 8, 300}}};

// The file loads nothing and sends nothing, whatever names are in the recording.
constexpr std::string_view kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data:\">\n";
constexpr std::string_view kHead = "<title>", kBody = "<div id=\"app\"></div>";
constexpr std::string_view kOpens = "<script type=\"text/plain\" id=\"recording\">";
constexpr std::string_view kCloses = "</script>\n";

std::uint64_t base64_bytes(std::uint64_t bytes) {
  return (bytes + 2) / 3 * 4;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve(base64_bytes(bytes.size()));
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::size_t part = std::min<std::size_t>(3, bytes.size() - at);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; i++) {
      bits = bits << 8 | (i < part ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; i++) {
      text += i <= part ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
    }
  }
  return text;
}

Result<std::string> gzip(std::string_view text) {
  constexpr int kGzip = 16;  // added to windowBits: a gzip header instead of zlib's
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + kGzip, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    return Error{ErrorCode::io, "--html: no memory to compress"};
  }
  std::string packed(deflateBound(&stream, text.size()), '\0');
  // zlib's structure has no pointer to const; it does not write through this one.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  const int ended = deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  if (ended != Z_STREAM_END) return Error{ErrorCode::io, "--html: compressing failed"};
  return packed;
}

class HtmlFile {
 public:
  HtmlFile(const Model& model, const HtmlFileRequest& request)
      : model_(model),
        request_(request),
        fixed_(selection_page().size() + kPolicy.size() + kOpens.size() + kCloses.size()) {}

  Result<std::string> text() {
    for (const Detail& detail : kDetails) {
      auto packed = FKT_TRY(finest(detail));
      if (packed) return page_with(*packed);
    }
    return usage("--size: " + bytes_text(request_.most_bytes) +
                 " hold not even the least detail of this recording");
  }

 private:
  bool fits(std::uint64_t packed) const {
    return fixed_ + base64_bytes(packed) <= request_.most_bytes;
  }

  // Returns the recording with the most columns that fit; nothing if not even the fewest do.
  Result<std::optional<std::string>> finest(const Detail& detail) {
    const auto rest = FKT_TRY(without_lanes(detail.overview));
    std::optional<std::string> best;
    // Halves the number of powers of 2 that are in question with each attempt.
    std::uint32_t least = std::countr_zero(detail.coarsest);
    std::uint32_t most = std::countr_zero(detail.finest);
    while (least <= most) {
      const std::uint32_t power = best ? (least + most + 1) / 2 : (least + most) / 2;
      auto packed = FKT_TRY(attempt(rest, detail, std::uint32_t{1} << power));
      if (packed) {
        best = std::move(packed);
        least = power + 1;
      } else {
        most = power - 1;
      }
    }
    return best;
  }

  // Returns nothing if it does not fit.
  Result<std::optional<std::string>> attempt(const std::string& rest, const Detail& detail,
                                             std::uint32_t columns) {
    const std::string lanes = list_lanes(model_,
                                         {.scale = {request_.from, request_.to, columns},
                                          .most = detail.tasks,
                                          .filter = {},
                                          .fine = true,
                                          .differences = true,
                                          .most_wakes = detail.wakes},
                                         {});
    if (!fits(lanes.size() / kPacked)) return std::optional<std::string>{};
    const std::string all = rest + ",\"lanes\":" + lanes;
    if (!events_) events_ = list_all_events();
    if (!events_->empty()) {
      auto packed = FKT_TRY(gzip(all + *events_ + '}'));
      if (fits(packed.size())) return std::optional(std::move(packed));
    }
    auto packed = FKT_TRY(gzip(all + '}'));
    if (!fits(packed.size())) return std::optional<std::string>{};
    return std::optional(std::move(packed));
  }

  // The texts of all events, and what they tell of asynchronous spans; empty if they are too many.
  std::string list_all_events() const {
    if (model_.events_about(request_.from, request_.to) > kMostEvents) return {};
    TextWriter out;
    out.put(",\"events\":");
    JsonWriter events(out);
    events.array([&] {
      list_events(model_.timeline(), {request_.from, request_.to, {}, {}, kMostEvents},
                  model_.zero(), [&](const ListedEvent& event) {
                    events.row(event.time, event.cpu, event.task, event.task_name, event.depth,
                               event.text);
                  });
    });
    out.put(",\"facts\":");
    JsonWriter facts(out);
    put_async_facts(facts, model_, request_.from, request_.to, kMostEvents);
    return out.take();
  }

  // Returns the part that every attempt has, the begin of a JSON object: information, overview,
  // statistics.
  Result<std::string> without_lanes(std::uint32_t columns) const {
    const ExtractCommand none({}, {}, 1);
    const Api api(model_, none);
    const auto since = [this](std::uint64_t clock) {
      return std::to_string(static_cast<std::int64_t>(clock - model_.zero()));
    };
    const Parameters part = {{"from", since(request_.from)}, {"to", since(request_.to)}};
    const Reply stats = api.answer("stats", part);
    if (stats.status != 200) return Error{ErrorCode::damaged, "--html: " + stats.body};
    const std::string file = std::filesystem::path(model_.file()).filename().string();
    const TimeScale overview{request_.from, request_.to, columns};
    return "{\"info\":" + api.info_of(file, {request_.from, request_.to}) +
           ",\"stats\":" + stats.body + ",\"density\":" + list_density(model_, overview) +
           ",\"bars\":" + bars();
  }

  // Of each type the name and the histogram of its durations.
  std::string bars() const {
    const Timeline& timeline = model_.timeline();
    WindowStats stats(request_.from, request_.to, timeline.tasks());
    timeline.follow(request_.from, request_.to, stats, {});
    TextWriter out;
    JsonWriter json(out);
    json.array([&] {
      for (TypeIndex type = 0; type < stats.types().size(); type++) {
        if (stats.types()[type].total.count == 0) continue;
        DurationBars of;
        of.add(stats.types()[type].times);
        json.row(timeline.types()[type].name, [&] { of.put(json); });
      }
    });
    return out.take();
  }

  static Result<std::string> page_with(const std::string& packed) {
    std::string page(selection_page());
    const std::size_t body = page.find(kBody);
    const std::size_t head = page.find(kHead);
    if (head == std::string::npos || body == std::string::npos || head > body) {
      return Error{ErrorCode::io, "--html: the page has no place for a recording"};
    }
    page.insert(body, std::string(kOpens) + base64(packed) + std::string(kCloses));
    page.insert(head, kPolicy);
    return page;
  }

  const Model& model_;
  const HtmlFileRequest& request_;
  std::uint64_t fixed_;  // bytes that the file has without a recording
  std::optional<std::string> events_;
};

}  // namespace

Result<std::string> html_file(const Model& model, const HtmlFileRequest& request) {
  return HtmlFile(model, request).text();
}

}  // namespace fkt::cli
