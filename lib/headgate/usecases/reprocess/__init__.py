"""Make plans, and estimate their costs."""
