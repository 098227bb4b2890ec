// A CPU kernel and a structured one: no symbolic tensor ever arrives here, so nothing is reported.

#include <ATen/ATen.h>
#include <ATen/TensorMeta.h>
#include <ATen/native/BlendUtils.h>

#include <vector>

namespace at::native {

struct structured_fold_rows {
  void impl(const Tensor& self, const Tensor& out);
};

static int64_t padded_extent(const Tensor& self) {
  return whole_blocks(self.size(0)) + 8;
}

Tensor blend_rows_cpu(const Tensor& self) {
  std::vector<double> buffer(padded_extent(self));
  auto values = self.accessor<double, 2>();
  for (int64_t i = 0; i < values.size(0); ++i) {
    buffer[i] = values[i][0];
  }
  return at::full({self.size(0)}, buffer.size() ? buffer[0] : 0.0);
}

TORCH_IMPL_FUNC(fold_rows)(const Tensor& self, const Tensor& out) {
  out.copy_(self.narrow(0, 0, out.size(0)));
}

} // namespace at::native
