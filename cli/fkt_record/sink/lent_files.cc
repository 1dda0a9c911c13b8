// SPDX-License-Identifier: GPL-2.0-only
#include "cli/fkt_record/sink/lent_files.h"

#include <unistd.h>

#include <cerrno>

#include "cli/base/messages.h"
#include "cli/base/units.h"

namespace fkt::record {

LentFiles::LentFiles(const Device& device, const TaskList& tasks, Output& first,
                     const LentFilesPlan& plan)
    : device_(device), tasks_(tasks), defined_(plan.defined), first_(first), rules_(plan.sink) {}

Result<std::unique_ptr<LentFiles>> LentFiles::make(const Device& device, const TaskList& tasks,
                                                   Output& first, const std::string& head,
                                                   const LentFilesPlan& plan) {
  std::unique_ptr<LentFiles> files(new LentFiles(device, tasks, first, plan));
  if (plan.rotate != 0) {
    const std::uint64_t reserve = plan.sink.part.reserve, least = head.size() + reserve;
    if (plan.rotate < least) {
      return cli::usage("--rotate: a file needs more than the " + cli::bytes_text(least) +
                        " that stand before and after its pages");
    }
    files->rules_.part.file_limit = plan.rotate - reserve;
    files->make_rotation(plan, head);
  }
  files->sink_ = FKT_TRY(FileSink::make(first, files->rules_, files->rotation_.get()));
  FKT_TRY(files->sink_->write_head(head));
  return files;
}

void LentFiles::make_rotation(const LentFilesPlan& plan, const std::string& head) {
  heads_ = std::make_shared<PartHeads>(head, tasks_, defined_);
  Rotation::Makers makers{
      // An error is ignored here: it occurs again when the head is made, and is reported then.
      [heads = heads_] { (void)static_cast<bool>(heads->prepare()); },
      [heads = heads_](unsigned number, const PartCpus& before) {
        return heads->head(number, before);
      },
      [heads = heads_, &device = device_, clock = plan.clock](const PartFile& part) {
        const std::string tasks = heads->take_tasks(part.number());
        heads->note_tasks();  // of the file that has just begun
        return part_tail(device, clock, part, tasks, heads->definitions());
      }};
  rotation_ = std::make_unique<Rotation>(RotationPlan{plan.output, plan.keep, rules_.part}, first_,
                                         std::move(makers));
}

void LentFiles::set_head(const std::string& head) {
  if (heads_) *heads_ = PartHeads(head, tasks_, defined_);
}

void LentFiles::start() {
  if (rotation_) rotation_->start();
}

int LentFiles::sync() {
  if (rotation_) return rotation_->sync();
  return ::fdatasync(first_.fd()) == 0 ? 0 : errno;
}

Status LentFiles::finish_others() {
  return rotation_ ? rotation_->join() : Done{};
}

void LentFiles::describe_last(Ending& ending) const {
  ending.groups = sink_->groups();
  ending.before = sink_->part()->before();
  if (!heads_) return;
  if (std::string tasks = heads_->take_tasks(sink_->part()->number()); !tasks.empty()) {
    ending.tasks = std::move(tasks);
  }
}

void LentFiles::last_is_complete() {
  if (rotation_) rotation_->remove_oldest(sink_->part()->number());
}

}  // namespace fkt::record
