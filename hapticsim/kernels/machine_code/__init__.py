"""How kernels are compiled, kept on disk and called by address."""
