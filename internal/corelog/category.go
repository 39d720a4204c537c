package corelog

import (
	"fmt"
	"log/slog"
	"slices"
	"strings"
)

// LevelTrace is more detailed than slog.LevelDebug, as in Core.
const LevelTrace = slog.LevelDebug - 4

// categories are Core's, sorted.
var categories = []string{
	"addrman", "bench", "blockstorage", "cmpctblock", "coindb", "estimatefee", "http", "i2p", "ipc", "kernel",
	"leveldb", "libevent", "lock", "mempool", "mempoolrej", "net", "proxy", "prune", "qt", "rand", "reindex", "rpc",
	"scan", "selectcoins", "tor", "txpackages", "txreconciliation", "validation", "walletdb", "zmq",
}

// levels are what -loglevel may ask for.
var levels = map[string]slog.Level{"info": slog.LevelInfo, "debug": slog.LevelDebug, "trace": LevelTrace}

// Filter says which lines below the level info are logged. The zero value drops
// them all. Lines of the level info and above are always logged. A filter does
// not change and is safe for concurrent use.
type Filter struct {
	enabled map[string]bool
	all     bool // also lines without a category
	level   slog.Level
	special map[string]slog.Level // by category
}

// NewFilter reads the values of the options -debug, -debugexclude and -loglevel.
// The texts of its errors are Core's.
func NewFilter(debug, exclude, loglevel []string) (*Filter, error) {
	f := &Filter{enabled: map[string]bool{}, level: slog.LevelDebug, special: map[string]slog.Level{}}
	for i, category := range slices.Backward(debug) {
		if category == "0" || category == "none" { // it forgets those before it
			debug = debug[i+1:]
			break
		}
	}
	for _, category := range debug {
		if !f.set(category, true) {
			return nil, refuse("Unsupported logging category -debug=%s.", category)
		}
	}
	for _, category := range exclude {
		if !f.set(category, false) {
			return nil, refuse("Unsupported logging category -debugexclude=%s.", category)
		}
	}
	for _, text := range loglevel {
		if err := f.setLevel(text); err != nil {
			return nil, err
		}
	}
	return f, nil
}

// set switches a category, or all of them, and fails for unknown ones.
func (f *Filter) set(category string, on bool) bool {
	switch {
	case category == "" || category == "1" || category == "all":
		f.all = on
		for _, category := range categories {
			f.enabled[category] = on
		}
	case category == "0" || category == "none":
	case slices.Contains(categories, category):
		f.enabled[category] = on
	default:
		return false
	}
	return true
}

func (f *Filter) setLevel(text string) error {
	category, name, special := strings.Cut(text, ":")
	if !special {
		level, ok := levels[text]
		if !ok {
			return refuse("Unsupported global logging level -loglevel=%s. Valid values: info, debug, trace.", text)
		}
		f.level = level
		return nil
	}
	level, ok := levels[name]
	if !ok || !slices.Contains(categories, category) {
		return refuse("Unsupported category-specific logging level -loglevel=%s. Expected "+
			"-loglevel=<category>:<loglevel>. "+
			"Valid categories: %s. Valid loglevels: info, debug, trace.", text, strings.Join(categories, ", "))
	}
	f.special[category] = level
	return nil
}

// Wants reports whether a line of this level and category is logged; the
// category may be empty.
func (f *Filter) Wants(level slog.Level, category string) bool {
	if level >= slog.LevelInfo {
		return true
	}
	if f == nil || (category == "" && !f.all) || (category != "" && !f.enabled[category]) {
		return false
	}
	if lowest, ok := f.special[category]; ok {
		return level >= lowest
	}
	return level >= f.level
}

// Quiet reports whether no category is on, which is when a log file that has
// grown too large is cut at start by default.
func (f *Filter) Quiet() bool {
	if f == nil {
		return true
	}
	for _, on := range f.enabled {
		if on {
			return false
		}
	}
	return true
}

// lowest returns a level below which no category logs.
func (f *Filter) lowest() slog.Level {
	if f.Quiet() {
		return slog.LevelInfo
	}
	return LevelTrace
}

// optionError is a mistake in an option's value, with Core's text.
type optionError string

func (e optionError) Error() string { return string(e) }

func refuse(format string, args ...any) error { return optionError(fmt.Sprintf(format, args...)) }
