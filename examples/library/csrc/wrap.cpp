// Operators with autograd. A matrix wound around a smaller one, and back, is given sizes: the schemas have them as integers.

#include "wrap.h"

#include <ATen/Dispatch.h>
#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/library.h>

namespace ring {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Each element of one matrix beside the one of the other that it is wound onto.
template <typename scalar_t, typename F>
void for_each_pair(const Tensor& large, const Tensor& small, const F& use) {
  auto outer = large.accessor<scalar_t, 2>(), inner = small.accessor<scalar_t, 2>();
  for (int64_t i = 0; i < large.size(0); ++i) {
    for (int64_t j = 0; j < large.size(1); ++j) {
      use(outer[i][j], inner[i % small.size(0)][j % small.size(1)]);
    }
  }
}

// Kernels of backends keep their integers: the dispatcher takes SymInts apart for them.
Tensor wrap_cpu(const Tensor& source, int64_t rows, int64_t columns) {
  TORCH_CHECK(source.dim() == 2, "wrap: expected a matrix");
  TORCH_CHECK(rows > 0 && columns > 0, "wrap: expected sizes above 0, got ", rows, " and ", columns);
  Tensor result = at::zeros({rows, columns}, source.options());
  AT_DISPATCH_FLOATING_TYPES(source.scalar_type(), "wrap", [&] {
    for_each_pair<scalar_t>(source, result, [](const scalar_t& from, scalar_t& to) { to += from; });
  });
  return result;
}

Tensor spread_cpu(const Tensor& source, at::IntArrayRef sizes) {
  TORCH_CHECK(source.dim() == 2 && sizes.size() == 2, "spread: expected matrices");
  TORCH_CHECK(source.numel() > 0, "spread: expected elements");
  Tensor result = at::empty(sizes, source.options());
  AT_DISPATCH_FLOATING_TYPES(source.scalar_type(), "spread", [&] {
    for_each_pair<scalar_t>(result, source, [](scalar_t& to, const scalar_t& from) { to = from; });
  });
  return result;
}

Tensor wrap_meta(const Tensor& source, int64_t rows, int64_t columns) {
  TORCH_CHECK(source.dim() == 2, "wrap: expected a matrix");
  return source.new_empty({rows, columns});
}

Tensor spread_meta(const Tensor& source, at::IntArrayRef sizes) {
  TORCH_CHECK(source.dim() == 2 && sizes.size() == 2, "spread: expected matrices");
  return source.new_empty(sizes);
}

Tensor wrap(const Tensor& source, int64_t rows, int64_t columns) {
  static const auto op =
      c10::Dispatcher::singleton().findSchemaOrThrow("ring::wrap", "").typed<decltype(wrap)>();
  return op.call(source, rows, columns);
}

Tensor spread(const Tensor& source, at::IntArrayRef sizes) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ring::spread", "")
                             .typed<Tensor(const Tensor&, at::IntArrayRef)>();
  return op.call(source, sizes);
}

// Each is the way back of the other.
class Wrap : public torch::autograd::Function<Wrap> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& source, int64_t rows, int64_t columns) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->saved_data["sizes"] = source.sizes();
    return wrap(source, rows, columns);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto sizes = ctx->saved_data["sizes"].toIntVector();
    return {spread(grads[0], sizes), Tensor(), Tensor()};
  }
};

class Spread : public torch::autograd::Function<Spread> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& source, at::IntArrayRef sizes) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->saved_data["rows"] = source.size(0);
    ctx->saved_data["columns"] = source.size(1);
    return spread(source, sizes);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto rows = ctx->saved_data["rows"].toInt();
    const auto columns = ctx->saved_data["columns"].toInt();
    return {wrap(grads[0], rows, columns), Tensor()};
  }
};

Tensor wrap_autograd(const Tensor& source, int64_t rows, int64_t columns) {
  return Wrap::apply(source, rows, columns);
}

Tensor spread_autograd(const Tensor& source, at::IntArrayRef sizes) {
  return Spread::apply(source, sizes);
}

// The rows of a matrix, each moved on by so many places; the last come first.
Tensor turn_cpu(const Tensor& source, int64_t steps) {
  TORCH_CHECK(source.dim() == 2, "turn: expected a matrix");
  return source.roll({steps}, {0}).contiguous();
}

// Its Meta stands here, too.
Tensor turn_meta(const Tensor& source, int64_t steps) {
  TORCH_CHECK(source.dim() == 2, "turn: expected a matrix");
  return source.new_empty({source.size(0), source.size(1)});
}

Tensor turn(const Tensor& source, int64_t steps) {
  static const auto op = c10::Dispatcher::singleton()
                             .findSchemaOrThrow("ring::turn", "")
                             .typed<Tensor(const Tensor&, int64_t)>();
  return op.call(source, steps);
}

// The way back is the other way round.
class Turn : public torch::autograd::Function<Turn> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& source, int64_t steps) {
    at::AutoDispatchBelowADInplaceOrView guard;
    ctx->saved_data["steps"] = steps;
    return turn(source, steps);
  }

  static variable_list backward(AutogradContext* ctx, variable_list grads) {
    const auto steps = ctx->saved_data["steps"].toInt();
    const auto grad = grads[0];
    return {turn(grad.reshape({grad.size(0), grad.size(1)}), -steps), Tensor()};
  }
};

Tensor turn_autograd(const Tensor& source, int64_t steps) {
  return Turn::apply(source, steps);
}

} // namespace ring

TORCH_LIBRARY_FRAGMENT(ring, m) {
  m.def("wrap(Tensor source, int rows, int columns) -> Tensor");
  m.def("spread(Tensor source, int[] sizes) -> Tensor");
  m.def("turn(Tensor source, int steps) -> Tensor");
}

TORCH_LIBRARY_IMPL(ring, CPU, m) {
  m.impl("wrap", TORCH_FN(ring::wrap_cpu));
  m.impl("spread", TORCH_FN(ring::spread_cpu));
  m.impl("turn", TORCH_FN(ring::turn_cpu));
}

TORCH_LIBRARY_IMPL(ring, Meta, m) {
  m.impl("wrap", TORCH_FN(ring::wrap_meta));
  m.impl("spread", TORCH_FN(ring::spread_meta));
  m.impl("turn", TORCH_FN(ring::turn_meta));
}

TORCH_LIBRARY_IMPL(ring, Autograd, m) {
  m.impl("wrap", TORCH_FN(ring::wrap_autograd));
  m.impl("spread", TORCH_FN(ring::spread_autograd));
  m.impl("turn", TORCH_FN(ring::turn_autograd));
}
