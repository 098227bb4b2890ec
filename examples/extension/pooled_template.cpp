// A template, of which the build of the library makes C++ with Jinja: two operators, with and without weights.
{#- The kernels for devices are in templates of their own. #}
{%- set kind = "weighted" if weighted else "plain" %}

#include <ATen/ATen.h>
#include <torch/library.h>

using at::Tensor;

{%- for pooled in (True, False) %}
{%- set shape = "pooled" if pooled else "rowwise" %}
Tensor {{ shape }}_{{ kind }}_meta(
    const Tensor& table,
    {%- if pooled %}
    const Tensor& widths,
    {%- endif %}
    {%- if weighted %}
    const Tensor& offsets,
    const Tensor& weights
    {%- else %}
    const Tensor& offsets
    {%- endif %}) {
  {%- if pooled %}
  int64_t rows = (offsets.numel() - 1) / widths.numel();
  {%- else %}
  int64_t rows = offsets.numel() - 1;
  {%- endif %}
  return at::empty({rows, {{ max_width }}}, table.options());
}

TORCH_LIBRARY_FRAGMENT(neighbors, m) {
  {%- set name = shape + "_" + kind %}
  m.impl("{{ name }}", torch::dispatch(c10::DispatchKey::Meta, TORCH_FN({{ shape }}_{{ kind }}_meta)));
}
{%- endfor %}
