// The operators of wrap.cpp for the rest of the library: each call goes through the dispatcher.

#pragma once

#include <ATen/core/Tensor.h>

namespace ring {

at::Tensor wrap(const at::Tensor& source, int64_t rows, int64_t columns);
at::Tensor spread(const at::Tensor& source, at::IntArrayRef sizes);

} // namespace ring
