package main

import (
	"fmt"
	"log/slog"
	"math"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/seed61375155/trawl"
	"github.com/seed61375155/trawl/internal/options"
)

const (
	// workMemory is what the program may use beside the cache of unspent outputs
	// before garbage is collected at shorter intervals.
	workMemory = 2 << 30

	// leastDatabases is the least of -dbcache.
	leastDatabases = 4 << 20

	// leastCache and leastWork are what cache and program have whatever is asked for.
	leastCache = 7 << 18
	leastWork  = 64 << 20

	// idleMemory is how much memory is worth a look, and quietly how much may be asked
	// for meanwhile without that being a time of work.
	idleMemory = 24 << 20
	quietly    = 32 << 20

	memoryPause = 5 * time.Second
)

// A memoryPlan shares out what memory there is. The cache lies outside of the heap, so
// that the runtime's limit is about the rest.
type memoryPlan struct {
	cache int64 // bytes for unspent outputs
	work  int64 // the runtime's limit
	bound int64 // that the process has to keep to, 0: none
}

// planMemory shares out memory between the cache, whose size was asked for, and the work. Where the process has
// a bound, the cache gets at most half of it; a sixteenth is left for memory that neither of them counts.
func planMemory(cache, bound int64) memoryPlan {
	p := memoryPlan{cache: max(cache, leastCache), work: workMemory, bound: bound}
	if bound > 0 {
		p.cache = max(min(p.cache, bound/2), leastCache)
		p.work = max(min(p.work, bound-bound/16-p.cache), leastWork)
	}
	return p
}

// settledMemory returns the plan for this process: by -dbcache, GOMEMLIMIT and the
// limit of its container.
func settledMemory(o *options.Settings) memoryPlan {
	bound := containerMemory(os.DirFS("/"))
	if limit := givenLimit(); limit > 0 && (bound == 0 || limit < bound) {
		bound = limit
	}
	return planMemory(askedCache(o), bound)
}

// startLimit is GOMEMLIMIT as the runtime has read it, before anybody changes the limit.
var startLimit = debug.SetMemoryLimit(-1)

// givenLimit is GOMEMLIMIT, 0 where there is none.
func givenLimit() int64 {
	if startLimit == math.MaxInt64 {
		return 0
	}
	return startLimit
}

// keepMemorySmall bounds the garbage of times of work, and gives memory back to
// the system soon after them. The function it returns ends that.
func keepMemorySmall(o *options.Settings, log *slog.Logger) (end func()) {
	plan := settledMemory(o)
	if asked := askedCache(o); plan.cache < asked {
		log.Warn("The cache of unspent outputs is smaller than -dbcache, to keep to the limit of memory",
			"limit_mib", plan.bound>>20, "cache_mib", plan.cache>>20, "dbcache_mib", asked>>20)
	}
	debug.SetMemoryLimit(plan.work)
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		watch := memoryWatch{free: debug.FreeOSMemory}
		tick := time.NewTicker(memoryPause)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				watch.look(readMemory())
			case <-ended:
				return
			}
		}
	}()
	return func() { close(ended); <-done }
}

// askedCache is what -dbcache has for unspent outputs, in bytes.
func askedCache(o *options.Settings) int64 {
	const most = 1 << 20 // MiB, so that it fits
	return coinShare(min(max(o.Int("dbcache", trawl.DefaultCache>>20), leastDatabases>>20), most) << 20)
}

// coinShare is the part of the memory of -dbcache that unspent outputs have. As in Bitcoin Core, an eighth, at
// most 2 MiB, is for the tree of blocks. Half of the rest, at most 8 MiB, is for the outputs that goleveldb
// holds.
func coinShare(databases int64) int64 {
	databases -= min(databases/8, 2<<20)
	return databases - min(databases/2, 8<<20)
}

// warnOfCache returns a warning if -dbcache is more than three quarters of the system's memory, or more than the
// default where that memory is below 2 GiB. Otherwise the text is empty. system is the memory in bytes, 0 where
// it is not known.
func warnOfCache(o *options.Settings, system int64) string {
	const most = math.MaxUint64 >> 20 // MiB, with which Core counts in bytes
	asked, enough := max(o.Int("dbcache", trawl.DefaultCache>>20), leastDatabases>>20), system/100*75>>20
	if system < 2048<<20 {
		enough = trawl.DefaultCache >> 20
	}
	if system == 0 || asked <= enough {
		return ""
	}
	return fmt.Sprintf("A %d MiB dbcache may be too large for a system memory of only %d MiB.",
		min(asked, most), system>>20)
}

// memory is what the runtime says of it, in bytes.
type memory struct {
	asked uint64 // by the program, ever
	held  uint64 // of the system, for objects
}

func readMemory() memory {
	names := [...]string{
		"/gc/heap/allocs:bytes",
		"/memory/classes/heap/objects:bytes", "/memory/classes/heap/free:bytes", "/memory/classes/heap/unused:bytes",
	}
	var samples [len(names)]metrics.Sample
	for i, name := range names {
		samples[i].Name = name
	}
	metrics.Read(samples[:])
	value := func(i int) uint64 {
		if samples[i].Value.Kind() != metrics.KindUint64 {
			return 0
		}
		return samples[i].Value.Uint64()
	}
	return memory{asked: value(0), held: value(1) + value(2) + value(3)}
}

// A memoryWatch has memory given back when the program does little, once after each time of work. How much of it
// is garbage is known only after a collection.
type memoryWatch struct {
	free   func()
	before memory
	rested bool // memory was given back since the last time of work
}

func (w *memoryWatch) look(now memory) {
	quiet := now.asked-w.before.asked < quietly
	w.before = now
	switch {
	case !quiet:
		w.rested = false
	case !w.rested && now.held > idleMemory:
		w.rested = true
		w.free()
	}
}
