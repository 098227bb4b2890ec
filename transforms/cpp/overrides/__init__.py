"""How changed C++ code is laid over an installed torch: see `prover.CppProver`."""
