//go:build !linux

package coincache

func allocBytes(n int) []byte   { return make([]byte, n) }
func freeBytes([]byte)          {}
func allocSlots(n int) []uint64 { return make([]uint64, n) }
func freeSlots([]uint64)        {}
func allocOrders(n int) []order { return make([]order, n) }
func freeOrders([]order)        {}
