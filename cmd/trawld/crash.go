package main

import (
	"log/slog"
	"math/rand/v2"
	"os"
	"slices"

	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/options"
	"github.com/seed61375155/trawl/internal/part"
)

// defaultBatch is Core's nDefaultDbBatchSize, in bytes.
const defaultBatch = 16 << 20

// crasher returns the function that obeys -dbcrashratio, an option for tests of a node that is
// killed while it writes unspent outputs. Every -dbbatchsize bytes the program ends with a
// chance of one in -dbcrashratio. The function is nil where there is no such chance.
func crasher(o *options.Settings, log *slog.Logger) func(bytes int) {
	return crashes(o.Int("dbcrashratio", 0), o.Int("dbbatchsize", defaultBatch), rand.Int64N, func() {
		corelog.Printf(log, slog.LevelInfo, "Simulating a crash. Goodbye.")
		os.Exit(0)
	})
}

func crashes(ratio, batch int64, below func(n int64) int64, crash func()) func(bytes int) {
	if ratio <= 0 {
		return nil
	}
	written := int64(0)
	return func(bytes int) {
		if written += int64(bytes); written <= batch {
			return
		}
		written = 0
		if below(ratio) == 0 {
			crash()
		}
	}
}

// knobsOf reads the options that are for tests.
func knobsOf(o *options.Settings, log *slog.Logger) part.Knobs {
	return part.Knobs{
		MockTime: mockTime(o), FilterKernel: o.String("filterkernel", ""), SmallFiles: o.Bool("fastprune", false),
		WroteCoins: crasher(o, log), FixedKey: slices.Contains(o.Strings("test"), "addrman"),
		CheckAddrs: int(min(max(o.Int("checkaddrman", 0), 0), 1_000_000)),
	}
}
