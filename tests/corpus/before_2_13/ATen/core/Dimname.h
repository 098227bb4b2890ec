// Stands in for ATen/core/Dimname.h, which torch 2.13 no longer has: no tensor has names there.
#pragma once

#include <c10/util/ArrayRef.h>

#include <ostream>

namespace at {

class Dimname {
 public:
  static Dimname wildcard() {
    return {};
  }
};

using DimnameList = c10::ArrayRef<Dimname>;

inline bool operator==(Dimname, Dimname) {
  return true;
}

inline bool operator!=(Dimname, Dimname) {
  return false;
}

inline std::ostream& operator<<(std::ostream& stream, Dimname) {
  return stream << "None";
}

} // namespace at
