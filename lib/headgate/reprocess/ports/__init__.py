"""What plans see of the world and do to it, one module a subject; `plan.world` joins them."""
