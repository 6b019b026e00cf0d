"""The machine and its state, without anything that identifies the machine or its owner."""
