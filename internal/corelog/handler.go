// Package corelog is a log/slog handler that writes debug.log in Bitcoin Core's
// form. Example:
//
//	2026-11-20T05:47:52Z [rpc] ThreadRPCServer method=getblockcount user=alice
//
// A line begins with the time. The part of the program, the source location, and
// category and level follow as far as asked for, then the message and the
// attributes as key=value. The attributes named [CategoryKey] and [ThreadKey]
// are not printed like the others but set the category and the part of the
// program.
//
// The level info is implied without a category, and debug with one. Whether a
// line below info is logged depends on its category: see [Filter].
package corelog

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"
)

const (
	// CategoryKey is the attribute that names a line's category: one of Core's,
	// as "rpc".
	CategoryKey = "category"
	// ThreadKey is the attribute that names the part of the program a line
	// comes from, for -logthreadnames.
	ThreadKey = "thread"
)

// Layout says which parts of a line are printed besides the message.
type Layout struct {
	NoTimestamps    bool // -nologtimestamps
	Micros          bool // -logtimemicros
	ThreadNames     bool // -logthreadnames
	SourceLocations bool // -logsourcelocations
	AlwaysLevel     bool // -loglevelalways

	Rate *RateLimit // -logratelimit; nil: none
}

// Handler is a slog.Handler; make one with [New]. It is safe for concurrent use,
// as its handlers made by With… are.
type Handler struct {
	out    *Output
	filter *Filter
	layout Layout

	category, thread string
	group            string // prefix of keys, "a.b."
	attrs            []byte // those of WithAttrs, as they are printed
}

// New returns a handler that writes the lines that filter wants to out.
func New(out *Output, filter *Filter, layout Layout) *Handler {
	return &Handler{out: out, filter: filter, layout: layout}
}

// Enabled implements slog.Handler. Without a category yet, it says whether any
// category logs at this level.
func (h *Handler) Enabled(_ context.Context, level slog.Level) bool {
	if h.category == "" {
		return level >= h.filter.lowest()
	}
	return h.filter.Wants(level, h.category)
}

// WithAttrs implements slog.Handler.
func (h *Handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clone := *h
	clone.attrs = append([]byte(nil), h.attrs...)
	for _, attr := range attrs {
		if !clone.takeAttr(attr) {
			clone.attrs = appendAttr(clone.attrs, h.group, attr)
		}
	}
	return &clone
}

// WithGroup implements slog.Handler.
func (h *Handler) WithGroup(name string) slog.Handler {
	if name == "" {
		return h
	}
	clone := *h
	clone.group += name + "."
	return &clone
}

// takeAttr keeps an attribute that is a property of the line.
func (h *Handler) takeAttr(attr slog.Attr) bool {
	switch attr.Key {
	case CategoryKey:
		h.category = attr.Value.String()
	case ThreadKey:
		h.thread = attr.Value.String()
	default:
		return false
	}
	return true
}

// buffers are reused from line to line.
var buffers = sync.Pool{New: func() any { b := make([]byte, 0, 512); return &b }}

// Handle implements slog.Handler.
func (h *Handler) Handle(ctx context.Context, r slog.Record) error {
	line := *h // its category and thread may differ
	r.Attrs(func(attr slog.Attr) bool {
		line.takeAttr(attr)
		return true
	})
	if !h.filter.Wants(r.Level, line.category) {
		return nil
	}
	buffer := buffers.Get().(*[]byte)
	defer buffers.Put(buffer)
	b := line.appendPrefix((*buffer)[:0], &r)
	b = appendEscaped(b, strings.TrimSuffix(r.Message, "\n"))
	b = append(b, h.attrs...)
	r.Attrs(func(attr slog.Attr) bool {
		if attr.Key != CategoryKey && attr.Key != ThreadKey {
			b = appendAttr(b, h.group, attr)
		}
		return true
	})
	b = append(b, '\n')
	*buffer = b
	if h.layout.Rate == nil || r.Level < slog.LevelInfo || ctx.Value(unlimited{}) != nil {
		return h.out.write(b, true)
	}
	return line.writeLimited(b, &r)
}

// writeLimited writes a line of the record as far as the rate limit allows, and
// what the limit has to say. While some place writes no more, lines are marked.
func (h *Handler) writeLimited(b []byte, r *slog.Record) error {
	v := h.layout.Rate.judge(time.Now(), r.PC, len(b))
	var errs []error
	for _, text := range append(v.notices, v.last) {
		if text != "" {
			errs = append(errs, h.writeNotice(text, r))
		}
	}
	if v.partial && !v.drop {
		b = append([]byte("[*] "), b...)
	}
	return errors.Join(append(errs, h.out.write(b, !v.drop))...)
}

// writeNotice writes a warning of the log's own.
func (h *Handler) writeNotice(text string, r *slog.Record) error {
	notice := &Handler{out: h.out, layout: h.layout}
	b := notice.appendPrefix(nil, &slog.Record{Time: r.Time, PC: r.PC, Level: slog.LevelWarn})
	return h.out.write(append(append(b, text...), '\n'), true)
}

// appendPrefix writes what comes before the message, in Core's order.
func (h *Handler) appendPrefix(b []byte, r *slog.Record) []byte {
	if !h.layout.NoTimestamps {
		b = appendTime(b, r.Time, h.layout.Micros)
	}
	if h.layout.ThreadNames {
		thread := h.thread
		if thread == "" {
			thread = "main"
		}
		b = append(append(append(b, '['), thread...), "] "...)
	}
	if h.layout.SourceLocations {
		b = appendSource(b, r.PC)
	}
	return h.appendLevel(b, r.Level)
}

func appendTime(b []byte, t time.Time, micros bool) []byte {
	if t.IsZero() {
		t = time.Now()
	}
	layout := "2006-01-02T15:04:05Z "
	if micros {
		layout = "2006-01-02T15:04:05.000000Z "
	}
	return t.UTC().AppendFormat(b, layout)
}

// appendSource writes "[dir/file.go:12] [package.function] ".
func appendSource(b []byte, pc uintptr) []byte {
	frame, _ := runtime.CallersFrames([]uintptr{pc}).Next()
	return fmt.Appendf(b, "[%s:%d] [%s] ", shortFile(&frame), frame.Line, shortFunction(&frame))
}

// shortFile is dir/file.go.
func shortFile(frame *runtime.Frame) string {
	dir, file := filepath.Split(frame.File)
	return filepath.Join(filepath.Base(dir), file)
}

// shortFunction is package.function.
func shortFunction(frame *runtime.Frame) string {
	_, function := filepath.Split(frame.Function)
	return function
}

// appendLevel writes "[category:level] " without what is implied.
func (h *Handler) appendLevel(b []byte, level slog.Level) []byte {
	if h.category == "" && level == slog.LevelInfo && !h.layout.AlwaysLevel {
		return b
	}
	category := h.category
	if category == "" && h.layout.AlwaysLevel {
		category = "all"
	}
	b = append(append(b, '['), category...)
	if category == "" || level != slog.LevelDebug || h.layout.AlwaysLevel {
		if category != "" {
			b = append(b, ':')
		}
		b = append(b, levelName(level)...)
	}
	return append(b, "] "...)
}

func levelName(level slog.Level) string {
	switch {
	case level < slog.LevelDebug:
		return "trace"
	case level < slog.LevelInfo:
		return "debug"
	case level < slog.LevelWarn:
		return "info"
	case level < slog.LevelError:
		return "warning"
	default:
		return "error"
	}
}
