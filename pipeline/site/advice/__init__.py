"""What can be said about a setting that nobody has measured? See the design note 0015."""
