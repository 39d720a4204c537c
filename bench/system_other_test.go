//go:build !unix

package bench

import "time"

func cpuTime() time.Duration { return 0 }

func loadAverage() (load float64, ok bool) { return 0, false }

func processUse(int) (cpu time.Duration, peak int64) { return 0, 0 }
