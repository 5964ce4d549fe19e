"""One function over many sets of parameters: on all cores or a cluster, resumed after a stop."""
