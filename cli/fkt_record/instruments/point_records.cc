// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/instruments/point_records.h"

#include <utility>

#include "cli/fkt_record/instruments/tracefs.h"

namespace fkt::record {

Result<PointRecord> PointRecords::find(const std::string& system, const std::string& event) {
  if (!none_.empty()) return Error{ErrorCode::absent, none_};
  const Result<TracepointRecord> made = device_.point_record(event);
  if (!made && made.error().code == ErrorCode::absent) none_ = made.error().message;
  if (!made) return made.error();
  const auto format = FKT_TRY(tracefs_file("events/" + system + '/' + event + "/format"));
  auto layout = FKT_TRY(
      EventLayout::parse(format, [this](const std::string& enumeration, std::string_view name) {
        return enumerator(enumeration, name);
      }));
  const std::string differs = difference(layout, made->fields);
  if (!differs.empty()) return Error{ErrorCode::io, differs};
  return PointRecord{std::move(layout), made->bytes};
}

std::optional<std::int64_t> PointRecords::enumerator(const std::string& enumeration,
                                                     std::string_view name) {
  if (!types_) types_.emplace(Btf::of_kernel());
  if (!*types_) return std::nullopt;
  return (*types_)->enumerator((*types_)->enumeration(enumeration), name);
}

}  // namespace fkt::record
