//go:build !unix

package bench

import "time"

func cpuTime() time.Duration { return 0 }

func loadAverage() (load float64, ok bool) { return 0, false }
