#pragma once

#include <ATen/core/Tensor.h>

#include <optional>

namespace at::native {

// A parameter that holds a size: it changes with the definition and every caller, or not at all.
Tensor repeat_row(const Tensor& row, int64_t times);

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
