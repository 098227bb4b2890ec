// Functions that symfix leaves as they are. Each comment names what stops the value of a size.

#include <ATen/ATen.h>
#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIterator.h>
#include <c10/util/irange.h>

#include <array>
#include <cstring>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#define WHEN_WIDE(t) if ((t).dim() > 1)
#define SUM_OF(a, op, b) ((a)op(b))

namespace at::native {

// A loop runs as often as the size says.
Tensor row_parity(const Tensor& self) {
  Tensor total = at::zeros({1}, self.options());
  for (int64_t i = 0; i < self.size(0); ++i) {
    total = total.add(self.select(0, i));
  }
  return total;
}

// The same with a range.
Tensor column_walk(const Tensor& self) {
  Tensor total = at::zeros({1}, self.options());
  const int64_t columns = self.size(1);
  for (const auto i : c10::irange(columns)) {
    total = total.add(self.select(1, i));
  }
  return total;
}

// The size chooses an element of a table.
Tensor extent_lookup(const Tensor& self) {
  static constexpr std::array<double, 4> table{0.5, 1.0, 2.0, 4.0};
  const int64_t rest = self.size(0) % 4;
  return self.mul(table[rest]);
}

// Memory is addressed with it.
Tensor raw_total(const Tensor& self) {
  Tensor result = at::empty({1}, self.options());
  const auto* data = static_cast<const char*>(self.const_data_ptr());
  std::memcpy(result.mutable_data_ptr(), data + self.nbytes() - self.element_size(), self.element_size());
  return result;
}

// Threads share it out.
Tensor threaded_total(const Tensor& self) {
  Tensor result = at::empty_like(self);
  at::parallel_for(0, self.numel(), 1024, [&](int64_t begin, int64_t end) {
    result.narrow(0, begin, end - begin).fill_(1);
  });
  return result;
}

// The body is written for one scalar type: a kernel, whatever it is registered as.
Tensor typed_total(const Tensor& self) {
  Tensor result = at::empty({1}, self.options());
  AT_DISPATCH_FLOATING_TYPES(self.scalar_type(), "typed_total", [&] {
    result.fill_(static_cast<scalar_t>(self.numel()));
  });
  return result;
}

// The operator's schema takes an int there.
Tensor even_steps(const Tensor& self) {
  return at::linspace(0, 1, self.size(0), self.options());
}

// So does a function of the standard library.
Tensor shared_divisor(const Tensor& self) {
  return self.div(std::gcd(self.size(0), self.size(1)));
}

// A container is made as long as the size.
Tensor byte_budget(const Tensor& self) {
  const size_t rows = self.size(0);
  std::vector<Tensor> parts;
  parts.reserve(rows);
  parts.push_back(self);
  return at::cat(parts, 0);
}

// The value is cut to an int.
Tensor narrow_count(const Tensor& self) {
  const int rows = static_cast<int>(self.size(0));
  return self.mul(rows);
}

// Its bits are looked at.
Tensor even_extent(const Tensor& self) {
  return (self.size(0) & 1) == 0 ? self : self.clone();
}

// It chooses a branch of a switch.
Tensor switched_extent(const Tensor& self) {
  switch (self.size(0)) {
    case 1:
      return self;
    default:
      return self.clone();
  }
}

// It names a dimension, and dimensions are never symbolic.
Tensor last_axis(const Tensor& self) {
  return self.unsqueeze(self.size(0) - 1);
}

// It becomes part of a text.
Tensor named_extent(const Tensor& self) {
  const std::string name = "rows_" + std::to_string(self.size(0));
  TORCH_CHECK(name != "rows_13", "named_extent: ", name);
  return self;
}

// Somebody gets its address.
Tensor traced_extent(const Tensor& self) {
  int64_t rows = self.size(0);
  int64_t* trace = &rows;
  *trace += 1;
  return at::zeros({rows}, self.options());
}

// The function that asks for it returns it in a pair of integers, one of which counts a loop.
static std::pair<int64_t, int64_t> frame_of(const Tensor& self) {
  return {self.size(0), self.size(1)};
}

Tensor framed_extent(const Tensor& self) {
  const auto frame = frame_of(self);
  Tensor total = at::zeros({1}, self.options());
  for (int64_t i = 0; i < frame.first + frame.second; ++i) {
    total = total.add(self.select(0, i));
  }
  return total;
}

// The value leaves through a reference to an integer.
static void halve(int64_t& extent) {
  extent >>= 1;
}

Tensor halved_extent(const Tensor& self) {
  int64_t extent = self.size(0);
  halve(extent);
  return at::zeros({extent}, self.options());
}

// A record keeps it, and others read the record.
struct Extent {
  int64_t rows;
};

Tensor extent_record(const Tensor& self) {
  const Extent extent{self.size(0)};
  return at::zeros({extent.rows}, self.options());
}

// Nothing here says that T is a Tensor.
template <typename T>
static int64_t last_extent(const T& value) {
  return value.size(0);
}

Tensor generic_extent(const Tensor& self) {
  return at::zeros({last_extent(self)}, self.options());
}

// Macros hide the syntax, so nothing inside is edited.
Tensor guarded_region(const Tensor& self) {
  WHEN_WIDE(self) {
    return self.view({SUM_OF(self.size(0), *, self.size(1))});
  }
  return self;
}

// Someone looked at it and wrote down why it stays.
Tensor noted_extent(const Tensor& self) {
  const int64_t rows = self.size(0); // symfix: ignore[sym-accessor] callers pin this size with mark_static
  // symfix: ignore[sym-accessor] nothing is found on the next line, so this note is reported as unused
  return at::zeros({rows}, self.options());
}

// A TensorIterator cannot be built from symbolic shapes: this operator needs a meta kernel (mode 3).
Tensor iterated_sum(const Tensor& self, const Tensor& other) {
  Tensor result;
  auto iter = TensorIteratorConfig().add_output(result).add_const_input(self).add_const_input(other).build();
  if (iter.numel() == 0) {
    return iter.output();
  }
  return iter.output().add(other);
}

} // namespace at::native
