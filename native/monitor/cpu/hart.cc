#include "monitor/cpu/hart.h"

#include <cstdlib>
#include <string_view>

#include "monitor/cpu/core.h"

namespace shinken {

struct Hart::Impl {
  Impl(GuestMemory* memory, Bus* bus, std::shared_ptr<const SharedBlocks> shared)
      : core(memory, bus, std::move(shared)) {}
  Core core;
};

namespace {

/// SHINKEN_TRANSLATION=never|all, for whoever suspects the translator.
Translation translation_of_process() {
  static const Translation wanted = [] {
    const char* text = std::getenv("SHINKEN_TRANSLATION");
    const std::string_view name = text != nullptr ? text : "";
    return name == "never" ? Translation::kNever : name == "all" ? Translation::kAll : Translation::kHot;
  }();
  return wanted;
}

}  // namespace

Core::Core(GuestMemory* memory, Bus* bus, std::shared_ptr<const SharedBlocks> shared)
    : memory_(memory), bus_(bus), shared_(std::move(shared)) {
  s.mode = 1;
  s.stimecmp = ~u64{0};
  s.reservation = ~u64{0};
  if (shared_) entrance_ = shared_->entrance();
  translation_ = translation_of_process();
}

Hart::Hart(GuestMemory* memory, Bus* bus, std::shared_ptr<const SharedBlocks> shared)
    : impl_(new Impl(memory, bus, std::move(shared))) {
  memory_ = memory;
  memory->set_observer(this);
}

Hart::~Hart() {
  memory_->set_observer(nullptr);
}

HartState& Hart::state() {
  return impl_->core.s;
}
const HartState& Hart::state() const {
  return impl_->core.s;
}
HartExit Hart::run(u64 instret_limit) {
  return impl_->core.run(instret_limit);
}
void Hart::set_external_interrupt(bool level) {
  impl_->core.s.external = level ? 1 : 0;
}
void Hart::request_exit() {
  impl_->core.request_exit();
}
void Hart::reset_caches() {
  impl_->core.drop_code();
}
void Hart::drop_translations() {
  impl_->core.drop_translations();
}
void Hart::drop_write_translations() {
  impl_->core.drop_write_translations();
}
std::shared_ptr<const SharedBlocks> Hart::share_blocks() {
  return impl_->core.share_blocks();
}
u64 Hart::code_bytes() const {
  return impl_->core.code_bytes();
}
void Hart::set_translation(Translation translation) {
  impl_->core.set_translation(translation);
}
void Hart::on_page_write(u64 page, bool moved) {
  impl_->core.page_written(page, moved);
}

}  // namespace shinken
