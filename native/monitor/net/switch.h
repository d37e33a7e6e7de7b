#pragma once
// An Ethernet switch between machines, without time of its own: it takes frames, and hands them out in the
// one order (moment, port, order of taking). It learns which port an address is behind; what it does not know
// goes to all.
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "monitor/devices/virtio_net.h"

namespace shinken {

class EthernetSwitch {
 public:
  static constexpr unsigned kMaxPorts = 16;
  /// Addresses remembered; those beyond it are reached as unknown ones are.
  static constexpr std::size_t kMaxAddresses = 1024;
  /// Frames held between two `drain`s.
  static constexpr std::size_t kMaxHeld = 4096;

  explicit EthernetSwitch(unsigned ports) : ports_(ports) {}

  /// Takes a frame that came in at a port. False, and the frame is lost, if too many are held or it is too
  /// short.
  bool take(unsigned port, u64 moment, std::span<const u8> frame);
  /// Calls `deliver(port, moment, frame)` for every port that a held frame goes to, and holds nothing after
  /// it.
  void drain(const std::function<void(unsigned port, u64 moment, std::span<const u8> frame)>& deliver);
  std::size_t addresses() const { return behind_.size(); }

 private:
  struct Held {
    u64 moment;
    unsigned port;
    std::vector<u8> frame;
  };
  void learn(unsigned port, const MacAddress& source);

  unsigned ports_;
  std::vector<Held> held_;
  std::map<MacAddress, unsigned> behind_;
};

}  // namespace shinken
