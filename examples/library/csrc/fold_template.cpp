// A template, of which the build of the library makes C++ with Jinja, once for each `kind`: "half" and "third".
{%- set parts = {"half": 2, "third": 3}[kind] %}

#include "wrap.h"

#include <ATen/core/Tensor.h>
#include <torch/library.h>

namespace ring {

// Composite: a matrix folded in {{ parts }} over each other.
at::Tensor fold_{{ kind }}(const at::Tensor& source) {
  {%- if parts > 2 %}
  TORCH_CHECK(source.dim() == 2, "fold_{{ kind }}: expected a matrix to fold in {{ parts }}");
  {%- endif %}
  const int64_t rows = (source.size(0) + {{ parts - 1 }}) / {{ parts }};
  return wrap(source, rows, source.size(1));
}

} // namespace ring

TORCH_LIBRARY_FRAGMENT(ring, m) {
  m.def("fold_{{ kind }}(Tensor source) -> Tensor", ring::fold_{{ kind }});
}
