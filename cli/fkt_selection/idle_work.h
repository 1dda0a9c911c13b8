// SPDX-License-Identifier: GPL-2.0-only
// Lets background work pause while requests are being answered.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>

namespace fkt::cli {

class IdleWork {
 public:
  // A request is being answered while this object lives. Any number of threads may hold one.
  class Question {
   public:
    explicit Question(IdleWork& idle) : idle_(idle) { idle_.open_++; }
    ~Question() {
      idle_.answered_++;
      idle_.open_--;
    }
    Question(const Question&) = delete;
    Question& operator=(const Question&) = delete;

   private:
    IdleWork& idle_;
  };

  // Called repeatedly by the background thread. If there were requests since the last call, waits
  // until there have been none for a while. Returns false when `stop` became true.
  bool wait(const std::atomic<bool>& stop) {
    for (auto quiet = std::chrono::milliseconds(0); !stop;) {
      const std::uint64_t answered = answered_;
      const bool none = open_ == 0 && answered == seen_;
      if (none && (!disturbed_ || quiet >= kQuiet)) {
        disturbed_ = false;
        return true;
      }
      disturbed_ = true;
      quiet = none ? quiet + kLook : std::chrono::milliseconds(0);
      seen_ = answered;
      std::this_thread::sleep_for(kLook);
    }
    return false;
  }

 private:
  static constexpr std::chrono::milliseconds kQuiet{500}, kLook{20};
  std::atomic<std::uint64_t> answered_{0};
  std::atomic<int> open_{0};
  std::uint64_t seen_ = 0;  // value of answered_ at the last look
  bool disturbed_ = false;
};

}  // namespace fkt::cli
