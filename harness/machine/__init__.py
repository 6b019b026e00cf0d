"""The machine and its state; nothing that identifies its owner or the machine."""
