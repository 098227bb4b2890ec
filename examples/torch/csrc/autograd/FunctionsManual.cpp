// Backward formulas written by hand: derivatives.yaml names them, so symbols arrive in them.

#include <ATen/ATen.h>

namespace torch::autograd::generated::details {

using at::IntArrayRef;
using at::Tensor;

// A formula that asks the tensor itself for its sizes.
Tensor tile_mean_backward(const Tensor& grad, const Tensor& self, int64_t tile) {
  const auto rows = self.size(0);
  Tensor spread = grad.unsqueeze(1).expand({grad.size(0), tile, grad.size(1)});
  Tensor flat = spread.reshape({grad.size(0) * tile, grad.size(1)}).div(tile);
  return at::cat({flat, self.new_zeros({rows - grad.size(0) * tile, self.size(1)})}, 0);
}

// Sizes come as a parameter, which derivatives.yaml fills (level review).
Tensor trailing_window_backward(const Tensor& grad, IntArrayRef sizes, int64_t length) {
  Tensor result = at::zeros(sizes, grad.options());
  result.narrow(0, result.size(0) - length, length).copy_(grad);
  return result;
}

} // namespace torch::autograd::generated::details
