#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace at::native {

// A parameter that holds a size: it changes with the definition and every caller, or not at all.
Tensor repeat_row(const Tensor& row, int64_t times);

// Kernels count with what it gives, so it stays as it is: it gains a twin for those that have sizes to give.
inline int64_t whole_blocks(int64_t extent) {
  return extent - extent % 8;
}

// Declared by hand, as ATen does for kernels that other sources call.
Tensor trailing_window(const Tensor& self, int64_t length);

// Tensors that travel together.
struct BlendInputs {
  Tensor values;
  std::optional<Tensor> scale;

  int64_t extent() const {
    return values.dim();
  }
};

} // namespace at::native
