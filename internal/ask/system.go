package ask

import (
	"context"
	"log/slog"

	"github.com/asynkron/protoactor-go/actor"
)

// NewSystem returns a new actor system. Warnings and errors of the actor library go to log;
// its other lines, which are about itself, are dropped.
func NewSystem(log *slog.Logger) *actor.ActorSystem {
	log = slog.New(warnings{log.Handler()})
	return actor.NewActorSystem(actor.WithLoggerFactory(func(*actor.ActorSystem) *slog.Logger { return log }))
}

// warnings is a handler that lets through what the actor library warns of.
type warnings struct{ slog.Handler }

// Enabled implements slog.Handler.
func (w warnings) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelWarn && w.Handler.Enabled(ctx, level)
}

// WithAttrs implements slog.Handler.
func (w warnings) WithAttrs(attrs []slog.Attr) slog.Handler {
	return warnings{w.Handler.WithAttrs(attrs)}
}

// WithGroup implements slog.Handler.
func (w warnings) WithGroup(name string) slog.Handler { return warnings{w.Handler.WithGroup(name)} }
