package walletfile

import "testing"

// A short secret is on the heap even if it never leaves a function: stacks are copied when they grow.
func TestSecretIsOnTheHeap(t *testing.T) {
	text := []byte("short")
	if allocs := testing.AllocsPerRun(100, func() {
		s := NewSecret(text)
		s.Zero()
	}); allocs < 2 {
		t.Errorf("%v allocations: the bytes are on the stack", allocs)
	}
	if allocs := testing.AllocsPerRun(100, func() {
		s := NewSecret(text)
		s.Clone().Zero()
		s.Zero()
	}); allocs < 4 {
		t.Errorf("%v allocations: the bytes of a clone are on the stack", allocs)
	}
}
