// The operators of a small library: some complete in C++, some with the rest in Python (see ../ring).

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <torch/library.h>

#include <cmath>

namespace ring {

using at::Tensor;

// Composite: written in terms of other operators.
Tensor flat_gaps(const Tensor& left, const Tensor& right) {
  const auto gaps = left.sub(right);
  return gaps.reshape({gaps.numel()});
}

// Fake and formula of this one stand in Python.
Tensor blend_cpu(const Tensor& left, const Tensor& right, double share) {
  TORCH_CHECK(left.sizes() == right.sizes(), "blend: expected tensors of one shape");
  return left.mul(share).add(right, 1 - share);
}

// Nobody wrote a fake for this one: its sizes, its checks and what it does with a single row are read here.
Tensor gaps_cpu(const Tensor& left, const Tensor& right) {
  const bool alone = left.dim() == 1;
  TORCH_CHECK((alone || left.dim() == 2) && right.dim() == 2, "gaps: expected a row or a matrix, and a matrix");
  TORCH_CHECK(left.size(-1) == right.size(1), "gaps: expected rows of one length, got ", left.size(-1));
  TORCH_CHECK(left.scalar_type() == at::kFloat && right.scalar_type() == at::kFloat, "gaps: expected floats");
  Tensor matrix = left;
  if (alone) {
    matrix = left.unsqueeze(0);
  }
  const auto rows = matrix.size(0);
  Tensor result = at::empty({rows, right.size(0)}, left.options());
  const auto lefts = matrix.accessor<float, 2>(), rights = right.accessor<float, 2>();
  auto gaps = result.accessor<float, 2>();
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < right.size(0); ++j) {
      float gap = 0;
      for (int64_t k = 0; k < matrix.size(1); ++k) {
        gap += std::abs(lefts[i][k] - rights[j][k]);
      }
      gaps[i][j] = gap;
    }
  }
  if (alone) {
    result.squeeze_(0);
  }
  return result;
}

} // namespace ring

TORCH_LIBRARY(ring, m) {
  m.def("flat_gaps(Tensor left, Tensor right) -> Tensor", ring::flat_gaps);
  m.def("blend(Tensor left, Tensor right, float share) -> Tensor");
  m.def("gaps(Tensor left, Tensor right) -> Tensor");
}

TORCH_LIBRARY_IMPL(ring, CPU, m) {
  m.impl("blend", TORCH_FN(ring::blend_cpu));
  m.impl("gaps", TORCH_FN(ring::gaps_cpu));
}
