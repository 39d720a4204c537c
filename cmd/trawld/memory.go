package main

import (
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

	// idleMemory is how much memory without use is worth giving back, and quietly
	// how much may be asked for meanwhile without that being a time of work.
	idleMemory = 96 << 20
	quietly    = 32 << 20

	memoryPause = 5 * time.Second
)

// keepMemorySmall bounds the garbage of times of work, and gives memory back to
// the system soon after them. The function it returns ends that.
func keepMemorySmall(o *options.Settings) (end func()) {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(workMemory + cacheSize(o))
	}
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

// cacheSize is the value of -dbcache in bytes.
func cacheSize(o *options.Settings) int64 {
	return max(o.Int("dbcache", trawl.DefaultCache>>20), 4) << 20
}

// memory is what the runtime says of it, in bytes.
type memory struct {
	asked uint64 // by the program, ever
	held  uint64 // of the system, for objects
	live  uint64 // in use when garbage was last looked for
}

func readMemory() memory {
	names := [...]string{
		"/gc/heap/allocs:bytes", "/gc/heap/live:bytes",
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
	return memory{asked: value(0), live: value(1), held: value(2) + value(3) + value(4)}
}

// A memoryWatch has memory given back when there is much of it without use and
// the program does little. It does so once after each time of work.
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
	case !w.rested && now.held > now.live+idleMemory:
		w.rested = true
		w.free()
	}
}
