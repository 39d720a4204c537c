package wallets_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/filters"
	"github.com/seed61375155/trawl/internal/match"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

func parseBlock(raw []byte) *wire.MsgBlock {
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		panic(err)
	}
	return &block
}

// cases is how many random chains a test tries: few, with TRAWL_SOAK=200 many.
func cases(few, many int) int {
	const whole = 200
	if n, err := strconv.Atoi(os.Getenv("TRAWL_SOAK")); err == nil {
		return max(few, many*n/whole)
	}
	if raceEnabled {
		return max(few/5, 1)
	}
	return few
}

// A rescan finds the same as reading all blocks one after the other, for every
// chain, for every size of the windows, with filters on several cores and
// without filters.
func TestRescanAgreesWithFullScan(t *testing.T) {
	const keyPool = 4
	path, scripts := maker(t, keyPool)
	for n := range cases(25, 2000) {
		t.Run(strconv.Itoa(n), func(t *testing.T) {
			w := newWalk(uint64(n), scripts)
			chain := newChain()
			w.mine(chain, chain.Active().Tip(), 10+w.IntN(60))
			want := fullScan(t, path, chain, keyPool)
			window := int32(1 + w.IntN(80))
			for _, noFilters := range []bool{false, true} {
				r := newRig(t, chain, setup{noFilters: noFilters, keyPool: keyPool, window: window, now: genesis})
				do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
				same(t, stateOf(t, r.wallet(t, "w")), want)
			}
		})
	}
}

// held is a source whose workers wait.
type held struct {
	match.Source
	gate *gate
}

type gate struct {
	once    sync.Once
	reached chan struct{} // closed when the first worker waits
	open    chan struct{}
}

func newGate() *gate { return &gate{reached: make(chan struct{}), open: make(chan struct{})} }

func (h held) View() match.View { return heldView{h.Source.View(), h.gate} }

type heldView struct {
	match.View
	gate *gate
}

func (v heldView) Filters(from int32, active bool, dst []filters.Filter) error {
	v.gate.once.Do(func() { close(v.gate.reached) })
	<-v.gate.open
	return v.View.Filters(from, active, dst)
}

// hold makes a setup whose rescans wait at the gate.
func hold(keyPool int32) (setup, *gate) {
	g := newGate()
	return setup{
		keyPool: keyPool, now: genesis, window: 16, source: func(s match.Source) match.Source { return held{s, g} },
	}, g
}

// Blocks that come, and a reorganisation, during a rescan are neither lost nor
// counted twice, whether the wallet is being loaded or in use.
//
// The key pool covers all addresses, because its growth depends also on
// branches that were left.
func TestReorganisationDuringRescan(t *testing.T) {
	const keyPool = 24
	path, scripts := maker(t, keyPool)
	for n := range cases(6, 300) {
		for _, loading := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d loading %v", n, loading), func(t *testing.T) {
				w := newWalk(uint64(n)+5000, scripts)
				w.limit = keyPool
				chain := newChain()
				start := chain.Active().Tip()
				if loading {
					start = w.mine(chain, start, 40)
				}
				s, g := hold(keyPool)
				r := newRig(t, chain, s)
				done := make(chan error, 1)
				if loading {
					go func() {
						_, err := try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
						done <- err
					}()
				} else {
					do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
					w.mine(chain, start, 40)
					r.announce()
					ref := r.wallet(t, "w")
					go func() {
						_, err := try(t, ref, messages.Rescan{})
						done <- err
					}()
				}
				<-g.reached
				// A wallet also counts coins as spent that only a left branch
				// spends. A fork at an even height leaves no such coins.
				fork := chain.Active().At(int32(2 * w.IntN(19)))
				w.mine(chain, fork, 50)
				r.announce()
				close(g.open)
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				same(t, confirmedOf(t, r.wallet(t, "w")), confirmedOf(t, fresh(t, chain, path, keyPool)))
			})
		}
	}
}

// A rescan is ended at once, and leaves a wallet that goes on; one of a wallet
// that is being restored leaves nothing.
func TestAbort(t *testing.T) {
	const keyPool = 4
	path, scripts := maker(t, keyPool)
	chain := newChain()
	w := newWalk(1, scripts)
	w.mine(chain, chain.Active().Tip(), 60)

	t.Run("restoring", func(t *testing.T) {
		s, g := hold(keyPool)
		r := newRig(t, chain, s)
		done := make(chan error, 1)
		go func() {
			_, err := try(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
			done <- err
		}()
		<-g.reached
		if all := do(t, r.ref, messages.GetLoading{}); len(all) != 1 || all[0].Name != "w" ||
			all[0].Step != "Rescanning…" {
			t.Errorf("loading: %+v", all)
		}
		if do(t, r.ref, messages.AbortRestore{Name: "other"}) || !do(t, r.ref, messages.AbortRestore{Name: "w"}) {
			t.Error("abort: wrong answer")
		}
		refusal(t, <-done, -4, "Wallet loading failed. Failed to rescan the wallet during initialization")
		close(g.open)
		if left := files(t, r.dir); len(left) > 0 {
			t.Errorf("left: %q", left)
		}
		do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	})
	t.Run("in use", func(t *testing.T) {
		s, g := hold(keyPool)
		r := newRig(t, newChain(), s)
		do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
		r.current.Set(chain)
		r.announce()
		do(t, r.indexer, messages.WaitIndexed{Block: chain.Active().Tip().Hash})
		ref := r.wallet(t, "w")
		if do(t, ref, messages.AbortRescan{}) {
			t.Error("aborted nothing")
		}
		done := make(chan error, 1)
		go func() {
			_, err := try(t, ref, messages.Rescan{})
			done <- err
		}()
		<-g.reached
		if info := do(t, ref, messages.GetWalletInfo{}); !info.Scanning {
			t.Error("not scanning")
		}
		_, err := try(t, ref, messages.Rescan{})
		refusal(t, err, -4, "Wallet is currently rescanning. Abort existing rescan or wait.")
		_, err = try(t, r.ref, messages.UnloadWallet{Name: "w"})
		refusal(t, err, -4, "Wallet is currently rescanning. Abort existing rescan or wait.")
		if !do(t, ref, messages.AbortRescan{}) {
			t.Error("not aborted")
		}
		refusal(t, <-done, -1, "Rescan aborted.")
		close(g.open)
		if got := do(t, ref, messages.Rescan{}); got.Start != 0 || *got.Stop != 60 {
			t.Errorf("rescanned %+v", got)
		}
		do(t, r.ref, messages.UnloadWallet{Name: "w"})
	})
}

// faulty is a source whose reads fail at first, or always.
type faulty struct {
	match.Source
	fault func(from int32, dst []filters.Filter) error
}

func (f faulty) View() match.View { return faultyView{f.Source.View(), f.fault} }

type faultyView struct {
	match.View
	fault func(from int32, dst []filters.Filter) error
}

func (v faultyView) Filters(from int32, active bool, dst []filters.Filter) error {
	if err := v.fault(from, dst); err != nil {
		return err
	}
	return v.View.Filters(from, active, dst)
}

// Damaged filters are re-made; where they cannot be had the blocks are read.
// Nothing is missed either way.
func TestRescanOverDamage(t *testing.T) {
	const keyPool = 4
	path, scripts := maker(t, keyPool)
	chain := newChain()
	newWalk(3, scripts).mine(chain, chain.Active().Tip(), 70)
	want := fullScan(t, path, chain, keyPool)
	var once sync.Map
	for name, fault := range map[string]func(int32, []filters.Filter) error{
		"once": func(_ int32, dst []filters.Filter) error {
			if _, again := once.LoadOrStore(dst[0].Block, true); !again {
				return &match.DamagedError{Block: dst[0].Block, Err: errBroken}
			}
			return nil
		},
		"for ever": func(from int32, dst []filters.Filter) error {
			if from > 20 {
				return &match.DamagedError{Block: dst[0].Block, Err: errBroken}
			}
			return nil
		},
		"unknown": func(int32, []filters.Filter) error { return errBroken },
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, chain, setup{
				keyPool: keyPool, window: 25, now: genesis,
				source: func(s match.Source) match.Source { return faulty{s, fault} },
			})
			do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
			same(t, stateOf(t, r.wallet(t, "w")), want)
		})
	}
}

var errBroken = errors.New("disk is gone")

// A rescan that the end of the node interrupts goes on when the wallet is
// loaded again.
func TestInterruptedRescan(t *testing.T) {
	const keyPool = 4
	path, scripts := maker(t, keyPool)
	chain := newChain()
	newWalk(9, scripts).mine(chain, chain.Active().Tip(), 70)
	want := fullScan(t, path, chain, keyPool)
	file := filepath.Join("w", walletdb.FileName)
	for _, loading := range []bool{true, false} {
		t.Run(fmt.Sprintf("loading %v", loading), func(t *testing.T) {
			s, g := hold(keyPool)
			r := newRig(t, chain, s)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(filepath.Join(r.dir, "w"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(r.dir, file), content, 0o600); err != nil {
				t.Fatal(err)
			}
			if !loading {
				// Loaded while the blocks are elsewhere, then asked to rescan.
				r.current.Set(newChain())
				do(t, r.ref, messages.LoadWallet{Name: "w"})
				r.current.Set(chain)
				ref := r.wallet(t, "w")
				go func() { _, _ = try(t, ref, messages.Rescan{}) }()
			} else {
				go func() { _, _ = try(t, r.ref, messages.LoadWallet{Name: "w"}) }()
			}
			<-g.reached
			stopped := make(chan error, 1)
			go func() { stopped <- r.ref.Stop(t.Context()) }()
			close(g.open)
			if err := <-stopped; err != nil {
				t.Fatal(err)
			}
			again := newRig(t, chain, setup{dir: r.dir, keyPool: keyPool, now: genesis})
			do(t, again.ref, messages.LoadWallet{Name: "w"})
			if loading {
				same(t, stateOf(t, again.wallet(t, "w")), want)
				return
			}
			got := do(t, again.wallet(t, "w"), messages.GetBalances{})
			if fresh := do(t, fresh(t, chain, path, keyPool), messages.GetBalances{}); got != fresh {
				t.Errorf("got %+v, want %+v", got, fresh)
			}
		})
	}
}

// A wallet whose time ends during a rescan is not locked before the rescan is over.
func TestLockWaitsForTheRescan(t *testing.T) {
	const keyPool = 4
	path, scripts := maker(t, keyPool)
	chain := newChain()
	newWalk(1, scripts).mine(chain, chain.Active().Tip(), 40)
	s, g := hold(keyPool)
	r := newRig(t, newChain(), s)
	do(t, r.ref, messages.RestoreWallet{Name: "w", Backup: path})
	ref := r.wallet(t, "w")
	do(t, ref, messages.EncryptWallet{Passphrase: messages.Secret("x")})
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x"), For: time.Hour})
	r.current.Set(chain)
	r.announce()
	do(t, r.indexer, messages.WaitIndexed{Block: chain.Active().Tip().Hash})
	done := make(chan error, 1)
	go func() {
		_, err := try(t, ref, messages.Rescan{})
		done <- err
	}()
	<-g.reached
	_, err := try(t, ref, messages.LockWallet{})
	refusal(t, err, -4, "Error: the wallet is currently being used to rescan the blockchain for related "+
		"transactions. Please call `abortrescan` before locking the wallet.")
	do(t, ref, messages.UnlockWallet{Passphrase: messages.Secret("x")})
	for range 100 {
		if do(t, ref, messages.GetWalletInfo{}).UnlockedUntil.IsZero() {
			t.Fatal("the wallet was locked during the rescan")
		}
	}
	close(g.open)
	if err := <-done; err != nil {
		t.Error(err)
	}
	for !do(t, ref, messages.GetWalletInfo{}).UnlockedUntil.IsZero() { // the timer may be late
	}
	_, err = try(t, ref, messages.Rescan{})
	refusal(t, err, -13, "Error: Please enter the wallet passphrase with walletpassphrase first.")
}
