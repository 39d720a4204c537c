package wallets_test

import (
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// A hundred callers with one key are answered alike, and one of them is served.
func TestSpendAgainAtOnce(t *testing.T) {
	_, ref := rich(t, setup{}, "bech32", "bech32", "bech32")
	q := pay(10_000_000)
	q.Key = &messages.IdempotencyKey{Key: "order 7", Arguments: "a"}
	other := pay(20_000_000)
	other.Key = &messages.IdempotencyKey{Key: "order 7", Arguments: "b"}
	var group sync.WaitGroup
	var mu sync.Mutex
	ids := make(map[string]map[chainhash.Hash]bool)
	for i := range 100 {
		one := q
		if i%4 == 3 {
			one = other
		}
		group.Go(func() {
			got, err := try(t, ref, one)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				refusal(t, err, -8, "idempotency_key was used with other arguments")
				return
			}
			if ids[one.Key.Arguments] == nil {
				ids[one.Key.Arguments] = make(map[chainhash.Hash]bool)
			}
			ids[one.Key.Arguments][got.TxID] = true
		})
	}
	group.Wait()
	if len(ids) != 1 || len(ids["a"])+len(ids["b"]) != 1 {
		t.Errorf("paid by %v", ids)
	}
	if got := do(t, ref, messages.GetWalletInfo{}).TxCount; got != 4 {
		t.Errorf("%d transactions, want three in and one out", got)
	}
}

// A wallet that is locked while it pays has paid or refuses, and nothing is in between.
func TestLockWhilePaying(t *testing.T) {
	r, _ := rich(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "locked", Passphrase: messages.Secret("p")})
	ref := r.wallet(t, "locked")
	unlock := func() { do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("p"), For: time.Hour}) }
	unlock()
	script := scriptOf(t, do(t, ref, messages.NewAddress{Type: "bech32m"}))
	coins := 12 * 4
	for i := range coins {
		coin := payment(script, byte(i+1))
		r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: coin, Added: true}}})
	}
	do(t, r.ref, messages.SyncWallets{})
	var sent, refused atomic.Int64
	for round := range 12 {
		unlock()
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() {
				_, err := try(t, ref, pay(1_000_000))
				var known *messages.WalletError
				switch {
				case err == nil:
					sent.Add(1)
				case errors.As(err, &known) && known.Code == -13:
					refused.Add(1)
				default:
					t.Errorf("got %v", err)
				}
			})
		}
		<-time.After(time.Duration(round) * time.Millisecond)
		do(t, ref, messages.LockWallet{})
		group.Wait()
	}
	if sent.Load() == 0 || refused.Load() == 0 {
		t.Errorf("%d sent, %d refused: the test says nothing", sent.Load(), refused.Load())
	}
	if got := do(t, ref, messages.GetWalletInfo{}).TxCount; int64(got) != int64(coins)+sent.Load() {
		t.Errorf("%d transactions, want %d in and %d out", got, coins, sent.Load())
	}
	if locked := do(t, ref, messages.ListLocked{}); len(locked) != 0 {
		t.Errorf("coins stay locked: %v", locked)
	}
}

// A wallet that is closed while one payment is handed to the memory pool and others wait has made the first
// and answers all: it does not fail over the next one.
func TestUnloadWhilePaying(t *testing.T) {
	var once sync.Once
	submitting, submit := make(chan struct{}), make(chan struct{})
	closing, closed := make(chan struct{}), make(chan struct{})
	r, ref := rich(t, setup{
		submitted: func(messages.SubmitTx) {
			once.Do(func() { close(submitting) })
			<-submit
		},
		forget: func() {
			close(closing)
			<-closed
		},
	}, "bech32", "bech32")
	pays := func() <-chan error {
		answer := make(chan error, 1)
		go func() {
			_, err := try(t, ref, pay(60_000_000))
			answer <- err
		}()
		return answer
	}
	first := pays()
	<-submitting
	var waiting []<-chan error
	for range 8 {
		waiting = append(waiting, pays())
		do(t, ref, messages.ListLocked{}) // so that most have come before the wallet is closed
	}
	unloaded := make(chan error, 1)
	go func() {
		_, err := try(t, r.ref, messages.UnloadWallet{Name: "w"})
		unloaded <- err
	}()
	<-closing
	close(submit)
	if err := <-first; err != nil {
		t.Errorf("the first: %v", err)
	}
	close(closed)
	if err := <-unloaded; err != nil {
		t.Errorf("unloading: %v", err)
	}
	for _, answer := range waiting {
		if err := <-answer; !errors.Is(err, ask.ErrStopped) {
			t.Errorf("one that waited: %v, want %v", err, ask.ErrStopped)
		}
	}
}
