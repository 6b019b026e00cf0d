"""What machine is this, and what state is it in? Nothing that names its owner or the machine."""
