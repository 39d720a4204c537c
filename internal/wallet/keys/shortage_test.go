package keys

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

// A pool of slow keys that cannot be filled up says which descriptor's it is, and why if that is known.
func TestShortage(t *testing.T) {
	whole := slowRig(t, 3)
	receive := walletfile.Slot{Type: walletfile.MerkleRoot}
	change := walletfile.Slot{Type: walletfile.MerkleRoot, Internal: true}
	watch := rigOf(whole.set.params, false)
	for _, slot := range []walletfile.Slot{change, receive} {
		branches, err := descriptor.Parse(
			whole.set.active[slot].record.Text, watch.set.params.Network, descriptor.Options{})
		if err != nil {
			t.Fatal(err)
		}
		m := newManager(branches[0], 1)
		watch.set.add(m)
		watch.set.activate(m, slot)
	}
	check := func(what string, err error, want string) {
		t.Helper()
		var refused *messages.WalletError
		if !errors.As(err, &refused) || refused.Code != codes.Wallet || refused.Text != want {
			t.Errorf("%s: %v, want %s", what, err, want)
		}
	}
	const why = ": descriptor expansion failed at index 0; private derivation material may be missing or unavailable"
	const format = "Could not top up active %s p2mr descriptor keypool (descriptor id %v, target=%d, remaining=%d)%s"
	id := watch.set.active[receive].id()
	check("no private keys", watch.pool.Refill(2), fmt.Sprintf(format, "external", id, 2, 0, why))
	check("no size", watch.pool.Refill(0), fmt.Sprintf(format, "external", id, 3, 0, why))
	watch.set.deactivate(watch.set.active[receive], receive)
	id = watch.set.active[change].id()
	check("for change", watch.pool.Refill(2), fmt.Sprintf(format, "internal", id, 2, 0, why))
	watch.set.deactivate(watch.set.active[change], change)
	if err := watch.pool.Refill(2); err != nil {
		t.Errorf("nothing active: %v", err)
	}
	id = whole.set.active[receive].id()
	check("too many", whole.pool.Refill(math.MaxInt32), fmt.Sprintf(format, "external", id, math.MaxInt32, 3, ""))
	for _, size := range []int{maxIndices, 5} {
		if err := whole.pool.Refill(size); err != nil {
			t.Errorf("%d keys are made: %v", size, err)
		}
	}
	supply(t, whole, whole.pool.Jobs(100))
	if err := whole.pool.Refill(5); err != nil || whole.pool.Wanting() {
		t.Errorf("full: %v", err)
	}
}

// A pool with few addresses left is told of as long as it is filled up.
func TestLowPools(t *testing.T) {
	r := slowRig(t, 2)
	receive := r.set.active[walletfile.Slot{Type: walletfile.MerkleRoot}]
	if low := r.pool.LowPools(); len(low) > 0 {
		t.Errorf("a full pool is low: %+v", low)
	}
	if _, err := r.pool.NewAddress(messages.NewAddress{}); err != nil {
		t.Fatal(err)
	}
	want := LowPool{ID: receive.id(), Left: 1, Mark: 2}
	if low := r.pool.LowPools(); len(low) != 1 || low[0] != want || r.set.IsFilled(receive.id()) {
		t.Errorf("%+v, want %+v", low, want)
	}
	supply(t, r, r.pool.Jobs(100))
	if low := r.pool.LowPools(); len(low) > 0 || !r.set.IsFilled(receive.id()) {
		t.Errorf("filled: %+v", low)
	}
}
