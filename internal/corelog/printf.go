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
	ctx := context.Background()
	if !log.Enabled(ctx, level) {
		return
	}
	var caller [1]uintptr
	runtime.Callers(2, caller[:]) // this function and Callers left out
	r := slog.NewRecord(time.Now(), level, fmt.Sprintf(format, args...), caller[0])
	_ = log.Handler().Handle(ctx, r) // as slog does: nowhere to report it
}
