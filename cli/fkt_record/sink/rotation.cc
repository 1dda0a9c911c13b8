// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sink/rotation.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <fmt/core.h>

#include "cli/base/messages.h"
#include "lib/base/unique_fd.h"

namespace fkt::record {
namespace {

constexpr std::size_t kDigits = 6;

bool is_recording(const std::filesystem::path& path) {
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW));
  char magic[sizeof(FKT_FILE_MAGIC) - 1];
  return file && ::pread(file.get(), magic, sizeof magic, 0) == sizeof magic &&
         std::memcmp(magic, FKT_FILE_MAGIC, sizeof magic) == 0;
}

bool is_number(std::string_view text) {
  return text.size() >= kDigits && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Rotation::Rotation(RotationPlan plan, const Output& first, Makers makers)
    : plan_(std::move(plan)), makers_(std::move(makers)) {
  now_writing(first);
}

void Rotation::start() {
  closing_.start(makers_.prepare);
}

std::string Rotation::part_name(const std::string& name, unsigned number) {
  return fmt::format("{}.{:06}", name, number);
}

std::vector<std::string> Rotation::old_files(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path path(name);
  const std::string prefix = path.filename().string() + '.';
  std::vector<std::string> found;
  std::error_code error;
  fs::directory_iterator folder(path.has_parent_path() ? path.parent_path() : ".", error);
  for (; !error && folder != fs::directory_iterator(); folder.increment(error)) {
    const std::string file = folder->path().filename().string();
    if (!file.starts_with(prefix) || !is_number(file.substr(prefix.size()))) continue;
    if (is_recording(folder->path())) found.push_back(folder->path().string());
  }
  return found;
}

void Rotation::remove_old(const std::string& name) {
  for (const std::string& file : old_files(name)) ::unlink(file.c_str());
}

Result<Output> Rotation::open_first(const OutputPlan& plan) {
  struct stat is {};
  if (::stat(plan.file.c_str(), &is) == 0 && !S_ISREG(is.st_mode)) {
    return cli::usage("--rotate: " + plan.file + " is no name for files");
  }
  const std::vector<std::string> old = old_files(plan.file);
  if (!old.empty() && plan.replace == Replace::nothing) {
    return Error{ErrorCode::io, old.front() + ": it holds a recording (--force removes all " +
                                    plan.file + ".NUMBER)"};
  }
  remove_old(plan.file);
  return Output::open(plan.with_file(part_name(plan.file, 1)));
}

Result<std::unique_ptr<PartFile>> Rotation::next(const PartFile& before) {
  PartCpus base = before.before();
  for (const auto& [number, cpu] : before.claimed()) {
    PartCpu& sum = base[number];
    sum.events += cpu.events;
    sum.pages += cpu.pages;
    sum.lost = cpu.lost;
  }
  const unsigned number = before.number() + 1;
  closing_.wait();
  const auto head = FKT_TRY(makers_.head(number, base));
  // The previous file is not finished yet; removing the oldest now keeps the number of files within
  // the limit.
  remove_oldest(before.number());
  auto output = FKT_TRY(Output::open(plan_.output.with_file(part_name(plan_.output.file, number))));
  const Status written = output.write_head(head);
  if (!written) {
    output.discard();
    return written.error();
  }
  now_writing(output);
  return PartFile::open(std::move(output), plan_.part, number, base);
}

void Rotation::now_writing(const Output& output) {
  auto copy = std::make_shared<const UniqueFd>(::fcntl(output.fd(), F_DUPFD_CLOEXEC, 3));
  const std::lock_guard lock(mutex_);
  previous_ = std::exchange(current_, std::move(copy));
}

int Rotation::sync() {
  std::unique_lock lock(mutex_);
  const auto current = current_, previous = previous_;
  lock.unlock();
  for (const auto& file : {previous, current}) {
    if (file && *file && ::fdatasync(file->get()) != 0) return errno;
  }
  return 0;
}

void Rotation::finish(std::unique_ptr<PartFile> part) {
  closing_.start([this, own = std::shared_ptr<PartFile>(std::move(part))] { close(*own); });
}

void Rotation::close(PartFile& part) {
  const Result<Sections> tail = makers_.tail(part);
  const Status written = tail ? part.output().write_tail(part.end(), *tail) : tail.error();
  // With --keep 1 a file may be removed before it is finished; an error in its tail does not matter
  // then.
  const bool removed = part.number() <= removed_;
  if (!written && status_ && !removed) status_ = written;
  // Closed first: the space of a removed file is freed when its last descriptor is closed.
  part.output().close();
  remove_oldest(part.number());
  makers_.prepare();
}

void Rotation::remove_oldest(unsigned newest) {
  if (!plan_.keep || newest <= *plan_.keep) return;
  const unsigned oldest = newest - *plan_.keep;
  removed_ = std::max(removed_, oldest);
  ::unlink(part_name(plan_.output.file, oldest).c_str());
}

void Rotation::drop(std::unique_ptr<PartFile> part) {
  part->output().discard();
}

Status Rotation::join() {
  closing_.wait();
  return status_;
}

}  // namespace fkt::record
