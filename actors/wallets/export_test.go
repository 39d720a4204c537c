package wallets

// WithWindow makes the windows of rescans smaller.
func WithWindow(cfg Config, blocks int32) Config {
	cfg.window = blocks
	return cfg
}

// Poison is a message that the registry panics at.
var Poison = arrived{}
