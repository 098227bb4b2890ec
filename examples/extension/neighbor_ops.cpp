// A library outside PyTorch: its registrations are all that says where symbols arrive.

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

#include <tuple>

namespace neighbors {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// The Meta kernel computes shapes only.
Tensor pick_rows_meta(const Tensor& source, const Tensor& index) {
  return source.new_empty({index.numel(), source.size(1)});
}

// The CPU kernel reads memory: symbols never arrive, and it is left alone.
Tensor pick_rows_cpu(const Tensor& source, const Tensor& index) {
  Tensor result = at::empty({index.numel(), source.size(1)}, source.options());
  const int64_t* rows = index.const_data_ptr<int64_t>();
  for (int64_t i = 0; i < index.numel(); ++i) {
    result.select(0, i).copy_(source.select(0, rows[i]));
  }
  return result;
}

Tensor pick_rows(const Tensor& source, const Tensor& index) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("neighbors::pick_rows", "")
                             .typed<Tensor(const Tensor&, const Tensor&)>();
  return op.call(source, index);
}

// An autograd function: forward and backward run while shapes are symbolic.
class PickRows : public torch::autograd::Function<PickRows> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& source, const Tensor& index) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->save_for_backward({source, index});
    return pick_rows(source, index);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto saved = ctx->get_saved_variables();
    const auto source = saved[0];
    const auto index = saved[1];
    Tensor result = at::zeros({source.size(0), source.size(1)}, grads[0].options());
    return {result.index_add(0, index, grads[0]), Tensor()};
  }
};

Tensor pick_rows_autograd(const Tensor& source, const Tensor& index) {
  return PickRows::apply(source, index);
}

// A helper that only composite kernels call.
static Tensor as_column(const Tensor& values) {
  return values.reshape({values.numel(), 1});
}

// Composite: written in terms of other operators.
Tensor neighbor_degree(const Tensor& index, const Tensor& nodes) {
  const auto count = nodes.size(0);
  Tensor ones = at::ones({index.numel()}, nodes.options());
  return as_column(at::zeros({count}, nodes.options()).index_add(0, index, ones));
}

// Composite as well, but how often the loop runs depends on a size.
Tensor neighbor_chain(const Tensor& source) {
  Tensor result = source;
  for (int64_t i = 1; i < source.size(0); ++i) {
    result = result.add(source.select(0, i));
  }
  return result;
}

// Registered for the CPU alone: tensors without memory find no kernel.
Tensor nearest_row_cpu(const Tensor& source, const Tensor& queries) {
  Tensor nearest = at::empty({queries.size(0)}, queries.options().dtype(at::kLong));
  int64_t* rows = nearest.mutable_data_ptr<int64_t>();
  for (int64_t i = 0; i < queries.size(0); ++i) {
    rows[i] = source.sub(queries.select(0, i)).norm(2, 1).argmin().item<int64_t>();
  }
  return nearest;
}

} // namespace neighbors

TORCH_LIBRARY(neighbors, m) {
  m.def("nearest_row(Tensor source, Tensor queries) -> Tensor");
  m.def("pick_rows(Tensor source, Tensor index) -> Tensor");
  m.def("neighbor_degree(Tensor index, Tensor nodes) -> Tensor");
  m.def("neighbor_chain(Tensor source) -> Tensor", neighbors::neighbor_chain);
}

TORCH_LIBRARY_IMPL(neighbors, CPU, m) {
  m.impl("nearest_row", neighbors::nearest_row_cpu);
  m.impl("pick_rows", neighbors::pick_rows_cpu);
}

TORCH_LIBRARY_IMPL(neighbors, Meta, m) {
  m.impl("pick_rows", &neighbors::pick_rows_meta);
}

TORCH_LIBRARY_IMPL(neighbors, Autograd, m) {
  m.impl("pick_rows", TORCH_FN(neighbors::pick_rows_autograd));
}

TORCH_LIBRARY_IMPL(neighbors, CompositeImplicitAutograd, m) {
  m.impl("neighbor_degree", TORCH_FN(neighbors::neighbor_degree));
}
