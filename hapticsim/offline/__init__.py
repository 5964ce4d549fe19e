"""Off-line simulation: no clock, no contact, no hand; the integrators and the bookkeeping of the papers.

run             simulate_offline: what people call, and the OfflineRun they get
cash_karp       the papers' adaptive method    fixed            RK4    scipy_methods   four of SciPy's
motion          the right-hand side of a robot, ready for compiled code
compiled_parts  what the compiled integrators share; compiling keeps their machine code on disk
record, ending  what an integrator hands back, and how it can end
chains          the robots of the papers
static_sweep    forward dynamics along a line of configurations, nothing integrated

sweeps          run_sweep: one function over many parameter sets, on all cores or a cluster
"""
