//go:build !linux

package segment

// Faults returns 0: nothing is mapped.
func Faults() int64 { return 0 }

func request([]byte) (missing int) { return 0 }

func await([]byte) {}
