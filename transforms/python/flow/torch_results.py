"""Which functions and methods of torch give one Tensor, and which give several: those that are known to, no others.

Source: the schemas of native_functions.yaml, and the annotations of torch.nn.functional, of torch 2.13.
"""

from __future__ import annotations

SINGLE = frozenset(
    {"abs", "absolute", "acos", "acosh", "adaptive_avg_pool1d", "adaptive_avg_pool2d", "adaptive_avg_pool3d", "add",
     "addbmm", "addcdiv", "addcmul", "addmm", "addmv", "addr", "adjoint", "affine_grid", "affine_grid_generator",
     "airy_ai", "alias_copy", "all", "alpha_dropout", "amax", "amin", "angle", "any", "apply", "arange", "arccos",
     "arccosh", "arcsin", "arcsinh", "arctan", "arctan2", "arctanh", "argmax", "argmin", "argsort", "argwhere",
     "as_strided", "as_strided_copy", "as_strided_scatter", "as_subclass", "as_tensor", "asarray", "asin", "asinh",
     "atan", "atan2", "atanh", "avg_pool1d", "avg_pool2d", "avg_pool3d", "baddbmm", "bartlett_window", "batch_norm",
     "bernoulli", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "bfloat16", "bilinear", "binary_cross_entropy",
     "binary_cross_entropy_with_logits", "bincount", "binomial", "bitwise_and", "bitwise_left_shift", "bitwise_not",
     "bitwise_or", "bitwise_right_shift", "bitwise_xor", "blackman_window", "block_diag", "bmm", "bool", "broadcast_to",
     "bucketize", "byte", "cartesian_prod", "cat", "cauchy", "ccol_indices", "ccol_indices_copy", "cdist", "cdouble",
     "ceil", "celu", "cfloat", "chain_matmul", "chalf", "channel_shuffle", "char", "chebyshev_polynomial_t",
     "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w", "cholesky", "cholesky_inverse",
     "cholesky_solve", "clamp", "clamp_max", "clamp_min", "clip", "clone", "coalesce", "col_indices",
     "col_indices_copy", "column_stack", "combinations", "complex", "concat", "concatenate", "conj", "conj_physical",
     "constant_pad_nd", "contiguous", "conv1d", "conv2d", "conv3d", "conv_tbc", "conv_transpose1d", "conv_transpose2d",
     "conv_transpose3d", "convolution", "copy", "copysign", "corrcoef", "cos", "cosh", "cosine_embedding_loss",
     "cosine_similarity", "count_nonzero", "cov", "cpu", "cross", "cross_entropy", "crow_indices", "crow_indices_copy",
     "ctc_loss", "cuda", "cumprod", "cumsum", "cumulative_trapezoid", "deg2rad", "det", "detach", "detach_copy", "diag",
     "diag_embed", "diagflat", "diagonal", "diagonal_copy", "diagonal_scatter", "diff", "digamma", "dist", "div",
     "divide", "dot", "double", "dropout", "dropout1d", "dropout2d", "dropout3d", "dsmm", "dstack", "einsum", "elu",
     "embedding", "embedding_renorm", "empty", "empty_like", "empty_permuted", "empty_strided", "entr", "eq", "erf",
     "erfc", "erfcx", "erfinv", "exp", "exp2", "expand", "expand_as", "expand_copy", "expit", "expm1", "exponential",
     "eye", "fake_quantize_per_channel_affine", "fake_quantize_per_tensor_affine", "feature_alpha_dropout",
     "feature_dropout", "fft", "fft2", "fftfreq", "fftn", "fftshift", "fill", "fill_diagonal", "fix", "flatten", "flip",
     "fliplr", "flipud", "float", "float_power", "floor", "floor_divide", "fmax", "fmin", "fmod", "fold", "frac",
     "frobenius_norm", "from_dlpack", "from_numpy", "frombuffer", "full", "full_like", "gammainc", "gammaincc",
     "gammaln", "gather", "gaussian_nll_loss", "gcd", "ge", "gelu", "geometric", "ger", "glu", "greater",
     "greater_equal", "grid_sample", "grid_sampler", "grid_sampler_2d", "grid_sampler_3d", "group_norm", "gru_cell",
     "gt", "gumbel_softmax", "half", "hamming_window", "hann_window", "hardshrink", "hardsigmoid", "hardswish",
     "hardtanh", "heaviside", "hermite_polynomial_h", "hermite_polynomial_he", "hfft", "hfft2", "hfftn",
     "hinge_embedding_loss", "histc", "hsmm", "hspmm", "hstack", "huber_loss", "hypot", "i0", "i0e", "i1", "i1e",
     "ifft", "ifft2", "ifftn", "ifftshift", "igamma", "igammac", "ihfft", "ihfft2", "ihfftn", "imag", "index",
     "index_add", "index_copy", "index_fill", "index_put", "index_reduce", "index_select", "indices", "indices_copy",
     "inner", "instance_norm", "int", "int_repr", "interpolate", "inverse", "ipu", "irfft", "irfft2", "irfftn",
     "isclose", "isfinite", "isin", "isinf", "isnan", "isneginf", "isposinf", "isreal", "istft", "kaiser_window",
     "kl_div", "kron", "l1_loss", "laguerre_polynomial_l", "layer_norm", "lcm", "ldexp", "le", "leaky_relu",
     "legendre_polynomial_p", "lerp", "less", "less_equal", "lgamma", "linear", "linspace", "local_response_norm",
     "log", "log10", "log1p", "log2", "log_ndtr", "log_normal", "log_softmax", "logaddexp", "logaddexp2",
     "logcumsumexp", "logdet", "logical_and", "logical_not", "logical_or", "logical_xor", "logit", "logsigmoid",
     "logspace", "logsumexp", "long", "lp_pool1d", "lp_pool2d", "lp_pool3d", "lt", "lu_solve", "map", "map2",
     "margin_ranking_loss", "masked_fill", "masked_scatter", "masked_select", "matmul", "matrix_exp", "matrix_power",
     "matrix_rank", "max", "max_pool1d", "max_pool2d", "max_pool3d", "max_unpool1d", "max_unpool2d", "max_unpool3d",
     "maximum", "mean", "median", "min", "minimum", "mish", "mm", "modified_bessel_i0", "modified_bessel_i1",
     "modified_bessel_k0", "modified_bessel_k1", "moveaxis", "movedim", "mse_loss", "msort", "mtia", "mul",
     "multi_margin_loss", "multigammaln", "multilabel_margin_loss", "multilabel_soft_margin_loss", "multinomial",
     "multiply", "mv", "mvlgamma", "nan_to_num", "nanmean", "nanmedian", "nanquantile", "nansum", "narrow",
     "narrow_copy", "ndtr", "ndtri", "ne", "neg", "negative", "new", "new_empty", "new_empty_strided", "new_full",
     "new_ones", "new_tensor", "new_zeros", "nextafter", "nll_loss", "nonzero", "nonzero_static", "norm",
     "norm_except_dim", "normal", "normalize", "not_equal", "nuclear_norm", "one_hot", "ones", "ones_like", "orgqr",
     "ormqr", "outer", "pad", "pairwise_distance", "pdist", "permute", "permute_copy", "pin_memory", "pinverse",
     "pixel_shuffle", "pixel_unshuffle", "poisson", "poisson_nll_loss", "polar", "polygamma", "positive", "pow",
     "prelu", "prod", "psi", "put", "q_per_channel_scales", "q_per_channel_zero_points", "quantile",
     "quantize_per_channel", "rad2deg", "rand", "rand_like", "randint", "randint_like", "randn", "randn_like", "random",
     "randperm", "ravel", "real", "reciprocal", "relu", "relu6", "remainder", "renorm", "repeat", "repeat_interleave",
     "requires_grad", "reshape", "reshape_as", "resize", "resize_as", "resolve_conj", "resolve_neg", "rfft", "rfft2",
     "rfftfreq", "rfftn", "rms_norm", "rnn_relu_cell", "rnn_tanh_cell", "roll", "rot90", "round", "row_indices",
     "row_indices_copy", "row_stack", "rrelu", "rsqrt", "rsub", "saddmm", "sampled_addmm", "scalar_tensor",
     "scaled_dot_product_attention", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1", "scatter", "scatter_add",
     "scatter_reduce", "searchsorted", "segment_reduce", "select", "select_copy", "select_scatter", "selu", "set",
     "sgn", "share_memory", "shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u",
     "shifted_chebyshev_polynomial_v", "shifted_chebyshev_polynomial_w", "short", "sigmoid", "sign", "signbit", "silu",
     "sin", "sinc", "sinh", "slice_copy", "slice_scatter", "smm", "smooth_l1_loss", "soft_margin_loss", "softmax",
     "softmin", "softplus", "softshrink", "softsign", "sparse_bsc_tensor", "sparse_bsr_tensor",
     "sparse_compressed_tensor", "sparse_coo_tensor", "sparse_csc_tensor", "sparse_csr_tensor", "sparse_mask",
     "sparse_resize", "spherical_bessel_j0", "spmm", "sqrt", "square", "squeeze", "squeeze_copy", "sspaddmm", "stack",
     "std", "stft", "sub", "subtract", "sum", "sum_to_size", "swapaxes", "swapdims", "t", "t_copy", "take",
     "take_along_dim", "tan", "tanh", "tanhshrink", "tensor", "tensordot", "threshold", "tile", "to", "to_dense",
     "to_mkldnn", "to_padded_tensor", "to_sparse", "to_sparse_bsc", "to_sparse_bsr", "to_sparse_coo", "to_sparse_csc",
     "to_sparse_csr", "trace", "transpose", "transpose_copy", "trapezoid", "trapz", "tril", "tril_indices",
     "triplet_margin_loss", "triplet_margin_with_distance_loss", "triu", "triu_indices", "true_divide", "trunc",
     "type_as", "unflatten", "unfold", "unfold_copy", "uniform", "unique", "unique_consecutive", "unsqueeze",
     "unsqueeze_copy", "upsample", "upsample_bilinear", "upsample_nearest", "values", "values_copy", "vander", "var",
     "vdot", "view", "view_as", "view_as_complex", "view_as_complex_copy", "view_as_real", "view_as_real_copy",
     "view_copy", "vstack", "xlog1py", "xlogy", "xpu", "zero", "zeros", "zeros_like", "zeta"}
)  # fmt: skip
"""What gives one Tensor whatever it is given, as a function of torch, torch.nn.functional, fft, special and sparse, and
as a method; `add` stands for `add_` too. Those in `AMBIGUOUS` do where they are given nothing more.
"""
SEVERAL = frozenset(
    {"split", "split_with_sizes", "unsafe_split", "unsafe_split_with_sizes", "unsafe_chunk", "chunk", "unbind",
     "tensor_split", "hsplit", "vsplit", "dsplit", "split_copy", "split_with_sizes_copy", "unbind_copy", "meshgrid",
     "broadcast_tensors", "align_tensors", "topk", "sort", "kthvalue", "mode", "aminmax", "cummax", "cummin", "frexp",
     "std_mean", "var_mean", "slogdet", "svd", "svd_lowrank", "pca_lowrank", "qr", "geqrf", "lu", "lu_unpack",
     "triangular_solve", "unravel_index", "gradient", "histogram", "lstm", "gru"}
)  # fmt: skip
"""What gives a tuple or list of Tensors, whatever it is given."""
MIXED = frozenset({"histogramdd", "multi_head_attention_forward"})
"""What gives a tuple of a Tensor and of what may be none."""
AMBIGUOUS = frozenset(
    {"max", "min", "median", "nanmedian", "nonzero", "where", "unique", "unique_consecutive", "atleast_1d",
     "atleast_2d", "atleast_3d"}
)  # fmt: skip
"""What gives one Tensor or several, by its arguments."""
