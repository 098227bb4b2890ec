// Functions that become symbolic as a whole: each size goes only to places that take symbols as well.

#include <ATen/ATen.h>
#include <ATen/native/BlendUtils.h>
#include <c10/util/MaybeOwned.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <vector>

namespace at::native {

// Truthiness, local types, a message, and callees that have a `_symint` twin.
Tensor pairwise_blend(const Tensor& left, const Tensor& right, const std::optional<Tensor>& weight) {
  if (!left.numel()) {
    return left.clone();
  }
  const int64_t rows = left.size(0);
  const auto columns = right.size(-1);
  TORCH_CHECK(left.dim() == 2, "pairwise_blend: expected a matrix, got shape ", left.sizes());
  Tensor wide = left.expand({rows, columns});
  if (weight.has_value() && weight->numel() == 1) {
    wide = wide.mul(weight->view({1, 1}));
  }
  c10::MaybeOwned<Tensor> second = c10::MaybeOwned<Tensor>::borrowed(right);
  return wide.add(second->view({1, second->numel()})).amax(0);
}

// Compound assignment and increment: SymInt has neither `-=` nor `++`.
Tensor tile_mean(const Tensor& self, int64_t tile) {
  int64_t rows = self.size(0);
  rows -= rows % tile;
  int64_t spare = self.size(1);
  spare++;
  Tensor trimmed = self.narrow(0, 0, rows);
  Tensor tiles = trimmed.reshape({rows / tile, tile, -1});
  return tiles.mean(1).add(at::zeros({spare - 1}, self.options()));
}

// A size in floating-point arithmetic.
Tensor count_scale(const Tensor& self) {
  const double count = static_cast<double>(self.numel());
  return self.div(static_cast<double>(self.size(0))).mul(count);
}

// The number of dimensions is concrete: it is asked for with dim().
Tensor rank_flatten(const Tensor& self) {
  if (self.sizes().empty()) {
    return self.view({1});
  }
  if (self.sizes().size() == 1) {
    return self;
  }
  return self.reshape({at::size(self, 0), -1});
}

// Containers of sizes, and std::max of a size and a constant.
Tensor grow_frame(const Tensor& self, int64_t margin) {
  DimVector frame(self.sizes());
  frame[0] = frame[0] + 2 * margin;
  std::vector<int64_t> shape = self.sizes().vec();
  shape.back() = std::max(self.size(-1), int64_t{1});
  return at::empty(frame, self.options()).add(at::ones(shape, self.options()));
}

// Strides, the offset and the array type.
Tensor restride(const Tensor& self) {
  IntArrayRef sizes = self.sizes();
  const auto strides = self.strides();
  const int64_t offset = self.storage_offset();
  return self.as_strided(sizes, strides, offset);
}

// The offset of a TensorImpl, which is set with sizes and strides.
Tensor relabel(const Tensor& self) {
  Tensor result = self.detach();
  auto* impl = result.unsafeGetTensorImpl();
  impl->set_storage_offset(self.storage_offset());
  impl->set_sizes_and_strides(self.sizes(), self.strides());
  return result;
}

// A loop that a size counts, in a function that converts but for it.
Tensor fold_steps(const Tensor& self) {
  Tensor result = at::zeros(self.sizes(), self.options());
  const auto steps = self.size(0);
  for (const auto step : c10::irange(steps)) {
    result = result.add(self.narrow(0, step, 1));
  }
  return result;
}

// Strides that stay concrete beside sizes that do not.
Tensor restride_like(const Tensor& self, IntArrayRef stride) {
  return self.as_strided(self.sizes(), stride);
}

// A product, and a cast to the type the value has already.
Tensor flat_product(const Tensor& self) {
  const auto sizes = self.sizes();
  const auto count = std::accumulate(sizes.begin(), sizes.end(), 1, std::multiplies<int64_t>());
  return self.reshape({count / static_cast<int64_t>(self.size(0)), self.size(0)});
}

// A template that is told the integer type.
Tensor padded_width(const Tensor& self) {
  const auto width = std::max<int64_t>(self.size(0), 8);
  return at::zeros({width}, self.options());
}

// A helper that kernels share.
Tensor whole_rows(const Tensor& self) {
  return self.narrow(0, 0, whole_blocks(self.size(0)));
}

// Elements of a list, an optional tensor, a structured binding, a lambda and a member.
Tensor stack_extents(TensorList parts, const std::optional<Tensor>& extra) {
  std::vector<Tensor> results;
  for (const auto& part : parts) {
    results.push_back(part.reshape({part.numel()}));
  }
  auto [first, last] = std::make_tuple(parts[0].clone(), parts.back().clone());
  results.push_back(first.view({first.numel()}));
  const auto column = [](const Tensor& t) { return t.reshape({t.numel()}); };
  results.push_back(column(last));
  BlendInputs inputs{first, extra};
  if (inputs.scale.has_value()) {
    results.push_back(inputs.scale->reshape({inputs.scale->numel()}));
  }
  results.push_back(inputs.values.reshape({inputs.values.numel()}));
  return at::cat(results, 0);
}

// A size that a condition changes by one, and a branch that only picks the order of two products.
Tensor chained_blend(const Tensor& left, const Tensor& middle, const Tensor& right, int64_t parts) {
  const auto share = left.size(0) / parts;
  const auto longest = left.size(0) % parts > 0 ? share + 1 : share;
  const Tensor first = left.narrow(0, 0, longest);
  if (longest * right.size(0) > middle.size(0) * right.size(1)) {
    return at::mm(first, at::mm(middle, right));
  }
  return at::mm(at::mm(first, middle), right);
}

// Both arms of a conditional expression, and a size that is assigned later.
Tensor masked_pool(const Tensor& self, const Tensor& mask) {
  int64_t length = 1;
  if (mask.defined()) {
    length = mask.size(0);
  }
  const int64_t width = self.dim() > 1 ? self.size(1) : 1;
  return self.new_zeros({length, width});
}

// The helper's parameter, its declaration and this call change together (level review).
Tensor row_spread(const Tensor& self, const Tensor& row) {
  return self.add(repeat_row(row, self.size(0)));
}

Tensor repeat_row(const Tensor& row, int64_t times) {
  return row.unsqueeze(0).expand({times, row.size(0)});
}

// The schema says `int length`, so a caller's symbol is made concrete before it arrives. Where the schema of a newer
// version, given with --vocabulary, says SymInt, all that follows from it is offered (level review).
Tensor trailing_window(const Tensor& self, int64_t length) {
  return self.narrow(0, self.size(0) - length, length);
}

// Sizes that are compared, and the message that names them.
Tensor checked_pair(const Tensor& left, const Tensor& right) {
  TORCH_CHECK(left.size(0) == right.size(0), "checked_pair: ", left.size(0), " rows against ", right.size(0));
  return left.add(right);
}

// Branches on sizes: one that only raises, and a shortcut that unknown sizes do not take (level review).
Tensor centered_pair(const Tensor& left, const Tensor& right) {
  if (left.dim() == 2 && left.size(1) != right.size(1)) {
    TORCH_CHECK_INDEX(false, "centered_pair: ", left.size(1), " columns against ", right.size(1));
  }
  if (left.numel() == 0) {
    return left.clone();
  }
  return left.add(right.expand_as(left));
}

// What a helper works out of the sizes comes back in a struct: one of its members changes with them (level review).
struct FrameAndDims {
  DimVector frame, dims;
};

static FrameAndDims measured_frame(const Tensor& self) {
  FrameAndDims extents;
  for (const auto dim : c10::irange(self.dim())) {
    extents.dims.push_back(dim);
    extents.frame.push_back(self.size(dim));
  }
  return extents;
}

Tensor framed_mean(const Tensor& self) {
  const auto extents = measured_frame(self);
  return self.mean(extents.dims, true).expand(extents.frame);
}

} // namespace at::native
