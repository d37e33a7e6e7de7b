#include "monitor/engine/run_queue.h"

#include <algorithm>
#include <utility>

namespace shinken {
namespace {

JobRef pop(std::list<JobRef>& from) {
  JobRef job = std::move(from.front());
  from.pop_front();
  return job;
}

}  // namespace

void RunQueue::push(JobRef job) {
  job->state = Job::State::kQueued;
  job->since = Job::Clock::now();
  auto& list = job->machine->cancelled() ? urgent_ : list_of(*job);
  list.push_back(std::move(job));
}

void RunQueue::push_first(JobRef job) {
  job->state = Job::State::kQueued;
  job->since = Job::Clock::now();
  auto& list = job->machine->cancelled() ? urgent_ : list_of(*job);
  list.push_front(std::move(job));
}

void RunQueue::hurry(const JobRef& job) {
  auto& list = list_of(*job);
  const auto found = std::find(list.begin(), list.end(), job);
  if (found != list.end()) urgent_.splice(urgent_.end(), list, found);
}

JobRef RunQueue::take() {
  if (!urgent_.empty()) return pop(urgent_);
  Class& ordinary = classes_[static_cast<std::size_t>(Priority::kOrdinary)];
  Class& grade = classes_[static_cast<std::size_t>(Priority::kGrade)];
  const bool grading = !grade.empty() && (ordinary.empty() || grade_in_a_row_ < kGradeRun);
  grade_in_a_row_ = grading && !ordinary.empty() ? grade_in_a_row_ + 1 : 0;
  Class& from = grading ? grade : ordinary;
  if (from.empty()) return nullptr;
  const bool owed = from.brief_in_a_row >= kShortRun;
  if (from.lengthy.empty() || (!from.brief.empty() && !owed)) {
    if (!from.lengthy.empty()) ++from.brief_in_a_row;
    JobRef job = pop(from.brief);
    job->yields = false;
    return job;
  }
  if (owed) from.brief_in_a_row = 0;
  JobRef job = pop(from.lengthy);
  job->yields = !owed && (grading || grade.empty());
  return job;
}

}  // namespace shinken
