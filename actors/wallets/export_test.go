package wallets

import (
	"time"

	"github.com/asynkron/protoactor-go/actor"
)

// WithWindow makes the windows of rescans smaller.
func WithWindow(cfg Config, blocks int32) Config {
	cfg.window = blocks
	return cfg
}

// WithFaults has writes fail, and be tried again at once.
func WithFaults(cfg Config, fail func() error) Config {
	cfg.fail, cfg.retryAfter = fail, time.Nanosecond
	return cfg
}

// Poison is a message that the registry panics at.
var Poison = (*actor.Terminated)(nil)
