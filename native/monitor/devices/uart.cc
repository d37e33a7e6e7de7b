#include "monitor/devices/uart.h"

namespace shinken {
namespace {
constexpr u8 kIerReceive = 1, kIerTransmit = 2;
constexpr u8 kLcrDivisor = 0x80, kMcrLoop = 0x10;
constexpr u8 kLsrData = 1, kLsrEmpty = 0x60;
constexpr u8 kIirNone = 1, kIirTransmit = 2, kIirReceive = 4, kIirFifo = 0xc0;
constexpr u32 kMaxSavedInput = Uart::kMaxInput;
}  // namespace

bool Uart::receive(std::span<const u8> bytes) {
  if (bytes.size() > kMaxInput - input_.size()) return false;
  input_.insert(input_.end(), bytes.begin(), bytes.end());
  update();
  return true;
}

int Uart::take() {
  if (input_.empty()) return -1;
  const u8 byte = input_.front();
  input_.pop_front();
  update();
  return byte;
}

void Uart::update() {
  const bool receive = (ier_ & kIerReceive) != 0 && !input_.empty();
  const bool transmit = (ier_ & kIerTransmit) != 0 && sent_;
  host_->set_irq(irq_, receive || transmit);
}

u8 Uart::modem_status() const {
  if ((mcr_ & kMcrLoop) == 0) return 0xb0;  // carrier, data set ready, clear to send
  // In loop-back the four outputs appear as the four inputs.
  const u8 out = mcr_ & 15;
  return static_cast<u8>((out & 1) << 5 | (out & 2) << 3 | (out & 4) << 4 | (out & 8) << 4);
}

bool Uart::read(u64 offset, unsigned size, u64* value) {
  if (size != 1 || offset >= 8) return false;
  const bool divisor = (lcr_ & kLcrDivisor) != 0;
  u8 out = 0;
  switch (offset) {
    case 0:
      if (divisor) {
        out = static_cast<u8>(divisor_);
      } else if (!input_.empty()) {
        out = input_.front();
        input_.pop_front();
      }
      break;
    case 1:
      out = divisor ? static_cast<u8>(divisor_ >> 8) : ier_;
      break;
    case 2:
      if ((ier_ & kIerReceive) != 0 && !input_.empty()) {
        out = kIirReceive;
      } else if ((ier_ & kIerTransmit) != 0 && sent_) {
        out = kIirTransmit;
        sent_ = false;
      } else {
        out = kIirNone;
      }
      if (fifo_ != 0) out |= kIirFifo;
      break;
    case 3:
      out = lcr_;
      break;
    case 4:
      out = mcr_;
      break;
    case 5:
      out = static_cast<u8>(kLsrEmpty | (input_.empty() ? 0 : kLsrData));
      break;
    case 6:
      out = modem_status();
      break;
    case 7:
      out = scratch_;
      break;
  }
  update();
  *value = out;
  return true;
}

bool Uart::write(u64 offset, unsigned size, u64 value) {
  if (size != 1 || offset >= 8) return false;
  const u8 byte = static_cast<u8>(value);
  const bool divisor = (lcr_ & kLcrDivisor) != 0;
  switch (offset) {
    case 0:
      if (divisor) {
        divisor_ = static_cast<u16>((divisor_ & 0xff00) | byte);
      } else {
        sent_ = true;
        if ((mcr_ & kMcrLoop) == 0) {
          output_(byte);
        } else if (input_.size() < kMaxInput) {
          input_.push_back(byte);
        }
      }
      break;
    case 1:
      if (divisor) {
        divisor_ = static_cast<u16>((divisor_ & 0xff) | byte << 8);
      } else {
        if ((byte & kIerTransmit) != 0 && (ier_ & kIerTransmit) == 0) sent_ = true;
        ier_ = byte & 15;
      }
      break;
    case 2:
      fifo_ = byte & 1;
      if ((byte & 2) != 0) input_.clear();
      break;
    case 3:
      lcr_ = byte;
      break;
    case 4:
      mcr_ = byte & 31;
      break;
    case 7:
      scratch_ = byte;
      break;
    default:
      break;
  }
  update();
  return true;
}

void Uart::save(ByteWriter& to) const {
  for (u8 byte : {ier_, lcr_, mcr_, scratch_, fifo_, static_cast<u8>(sent_)}) to.put<u8>(byte);
  to.put<u16>(divisor_);
  to.put_string(std::vector<u8>(input_.begin(), input_.end()));
}

void Uart::load(ByteReader& from) {
  for (u8* byte : {&ier_, &lcr_, &mcr_, &scratch_, &fifo_}) *byte = from.get<u8>();
  sent_ = from.get<u8>() != 0;
  divisor_ = from.get<u16>();
  const std::vector<u8> input = from.get_string(kMaxSavedInput);
  input_.assign(input.begin(), input.end());
}

}  // namespace shinken
