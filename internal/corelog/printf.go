package corelog

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"time"
)

// Printf logs a line whose text is composed, for the lines of Core that other
// programs look for. All other lines have a constant message and attributes.
//
//nolint:contextcheck,nolintlint // as slog.Info: there is nothing in a context that a line needs
func Printf(log *slog.Logger, level slog.Level, format string, args ...any) {
	printf(context.Background(), log, level, format, args)
}

// Unlimited is Printf for lines that the rate limit always lets through. As in Core these
// are only the lines about the tip: each needs a block with its proof of work.
func Unlimited(log *slog.Logger, level slog.Level, format string, args ...any) {
	printf(context.WithValue(context.Background(), unlimited{}, true), log, level, format, args)
}

// unlimited is the key of contexts whose lines the rate limit does not count.
type unlimited struct{}

func printf(ctx context.Context, log *slog.Logger, level slog.Level, format string, args []any) {
	if !log.Enabled(ctx, level) {
		return
	}
	var caller [1]uintptr
	runtime.Callers(3, caller[:]) // this function, its caller and Callers left out
	r := slog.NewRecord(time.Now(), level, fmt.Sprintf(format, args...), caller[0])
	_ = log.Handler().Handle(ctx, r) // as slog does: nowhere to report it
}
