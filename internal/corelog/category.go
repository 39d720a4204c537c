package corelog

import (
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
)

// LevelTrace is more detailed than slog.LevelDebug, as in Core.
const LevelTrace = slog.LevelDebug - 4

// categories are Core's of all versions, sorted.
var categories = []string{
	"addrman", "bench", "blockstorage", "cmpctblock", "coindb", "estimatefee", "http", "i2p", "ipc", "kernel",
	"leveldb", "libevent", "mempool", "mempoolrej", "net", "privatebroadcast", "proxy", "prune", "qt", "rand",
	"reindex", "rpc", "scan", "selectcoins", "tor", "txpackages", "txreconciliation", "validation", "walletdb", "zmq",
}

// levels are what -loglevel may ask for.
var levels = map[string]slog.Level{"info": slog.LevelInfo, "debug": slog.LevelDebug, "trace": LevelTrace}

// Filter says which lines below the level info are logged. The zero value drops
// them all. Lines of the level info and above are always logged. A filter changes
// as a whole, by [Filter.Replace], and is safe for concurrent use.
type Filter struct{ rules atomic.Pointer[rules] }

// rules are what a filter says. They do not change.
type rules struct {
	enabled map[string]bool
	all     bool // also lines without a category
	level   slog.Level
	special map[string]slog.Level // by category
}

// NewFilter reads the values of the options -debug, -debugexclude and -loglevel.
// The texts of its errors are Core's.
func NewFilter(debug, exclude, loglevel []string) (*Filter, error) {
	r := &rules{enabled: map[string]bool{}, level: slog.LevelDebug, special: map[string]slog.Level{}}
	for i, category := range slices.Backward(debug) {
		if isNone(category) { // it forgets those before it
			debug = debug[i+1:]
			break
		}
	}
	for _, category := range debug {
		if !r.set(category, true) {
			return nil, refuse("Unsupported logging category -debug=%s.", category)
		}
	}
	for _, category := range exclude {
		if !r.set(category, false) {
			return nil, refuse("Unsupported logging category -debugexclude=%s.", category)
		}
	}
	for _, text := range loglevel {
		if err := r.setLevel(text); err != nil {
			return nil, err
		}
	}
	f := &Filter{}
	f.rules.Store(r)
	return f, nil
}

// Replace gives the filter the present rules of another filter. A line that is being
// written keeps the rules that it began with.
func (f *Filter) Replace(by *Filter) { f.rules.Store(by.rules.Load()) }

// Categories returns the names of all categories, sorted.
func (*Filter) Categories() []string { return slices.Clone(categories) }

// Logs reports whether the details of a category are logged.
func (f *Filter) Logs(category string) bool {
	r := f.load()
	return r != nil && r.enabled[category]
}

// Switch has the details of some categories logged, and then those of others not. An
// unknown category is returned, and nothing is changed then. Like -debug it takes "", 1
// and all for all categories.
func (f *Filter) Switch(include, exclude []string) (unknown string, ok bool) {
	for {
		old := f.rules.Load()
		next := &rules{enabled: map[string]bool{}, level: slog.LevelDebug}
		if old != nil {
			next.all, next.level, next.special = old.all, old.level, old.special
			maps.Copy(next.enabled, old.enabled)
		}
		for i, category := range slices.Concat(include, exclude) {
			if isNone(category) || !next.set(category, i < len(include)) {
				return category, false
			}
		}
		if f.rules.CompareAndSwap(old, next) {
			return "", true
		}
	}
}

// isNone knows the names that mean no category, which only options may have.
func isNone(category string) bool { return category == "0" || category == "none" }

// set switches a category, or all of them, and fails for unknown ones.
func (r *rules) set(category string, on bool) bool {
	switch {
	case category == "" || category == "1" || category == "all":
		r.all = on
		for _, category := range categories {
			r.enabled[category] = on
		}
	case isNone(category):
	case slices.Contains(categories, category):
		r.enabled[category] = on
	default:
		return false
	}
	return true
}

func (r *rules) setLevel(text string) error {
	category, name, _ := strings.Cut(text, ":")
	if !strings.Contains(text[min(3, len(text)):], ":") { // no category is shorter
		level, ok := levels[text]
		if !ok {
			return refuse("Unsupported global logging level -loglevel=%s. Valid values: info, debug, trace.", text)
		}
		r.level = level
		return nil
	}
	level, ok := levels[name]
	if !ok || !slices.Contains(categories, category) {
		return refuse("Unsupported category-specific logging level -loglevel=%s. Expected "+
			"-loglevel=<category>:<loglevel>. "+
			"Valid categories: %s. Valid loglevels: info, debug, trace.", text, strings.Join(categories, ", "))
	}
	r.special[category] = level
	return nil
}

// Wants reports whether a line of this level and category is logged; the
// category may be empty.
func (f *Filter) Wants(level slog.Level, category string) bool {
	if level >= slog.LevelInfo {
		return true
	}
	r := f.load()
	if r == nil || (category == "" && !r.all) || (category != "" && !r.enabled[category]) {
		return false
	}
	if lowest, ok := r.special[category]; ok {
		return level >= lowest
	}
	return level >= r.level
}

// load returns the rules, nil where there are none.
func (f *Filter) load() *rules {
	if f == nil {
		return nil
	}
	return f.rules.Load()
}

// Quiet reports whether no category is on, which is when a log file that has
// grown too large is cut at start by default.
func (f *Filter) Quiet() bool {
	r := f.load()
	if r == nil {
		return true
	}
	for _, on := range r.enabled {
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
