package wallets_test

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/store/walletdb"
)

// A logged is the log of a registry, as it stands in debug.log. It may be read while it is written.
type logged struct {
	mu      sync.Mutex
	text    bytes.Buffer
	changed chan struct{} // closed with the next line; nil: nobody waits
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.changed != nil {
		close(l.changed)
		l.changed = nil
	}
	return l.text.Write(p)
}

// until waits for a line that has some words.
func (l *logged) until(tb testing.TB, words string) {
	tb.Helper()
	for {
		l.mu.Lock()
		if strings.Contains(l.text.String(), words) {
			l.mu.Unlock()
			return
		}
		if l.changed == nil {
			l.changed = make(chan struct{})
		}
		changed := l.changed
		l.mu.Unlock()
		select {
		case <-changed:
		case <-tb.Context().Done():
			tb.Fatalf("not logged: %s", words)
		}
	}
}

// logger returns what writes to the log.
func (l *logged) logger(tb testing.TB) *slog.Logger {
	tb.Helper()
	out, err := corelog.Open("", l)
	if err != nil {
		tb.Fatal(err)
	}
	return slog.New(corelog.New(out, &corelog.Filter{}, corelog.Layout{NoTimestamps: true}))
}

// take returns the lines that have some words, and forgets all.
func (l *logged) take(words ...string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for line := range strings.Lines(l.text.String()) {
		if slices.ContainsFunc(words, func(word string) bool { return strings.Contains(line, word) }) {
			lines = append(lines, strings.TrimSuffix(line, "\n"))
		}
	}
	l.text.Reset()
	return lines
}

// setMade has all keys of P2MR in the file of a wallet that is not loaded have made some signatures.
func setMade(tb testing.TB, r *rig, name string, n uint32) {
	tb.Helper()
	network := p2mrNetwork(tb)
	file, err := walletdb.Open(filepath.Join(r.dir, name, walletdb.FileName), walletdb.Options{Magic: network.Magic})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() {
		if err := file.Close(); err != nil {
			tb.Error(err)
		}
	}()
	records, err := file.Records()
	if err != nil {
		tb.Fatal(err)
	}
	loaded, _, err := walletfile.Load(tb.Context(), slices.Values(records),
		walletfile.LoadOptions{Network: network.Descriptors(), MerkleRoots: true})
	if err != nil {
		tb.Fatal(err)
	}
	defer loaded.Zero()
	err = file.Update(func(b *walletdb.Batch) error {
		for _, d := range loaded.Descriptors {
			for _, key := range d.PQCKeys {
				key = key.WithMade(n)
				if err := b.Put(walletfile.Record{Key: key.Key(), Value: key.Value()}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
}

// checkedWallet returns a loaded wallet whose keys of P2MR are checked and can therefore sign.
func checkedWallet(tb testing.TB, r *rig, name string) *ask.Ref {
	tb.Helper()
	ref := r.wallet(tb, name)
	for do(tb, ref, messages.GetWalletInfo{}).PQC.Pending > 0 {
		runtime.Gosched()
	}
	return ref
}

// A key that comes near its last signature is logged once, for every kind of request that signs.
func TestSignatureWarningsAreLogged(t *testing.T) {
	var log logged
	r := p2mrRig(t, setup{keyPool: 2, pool: emptyPool, log: log.logger(t)})
	do(t, r.ref, messages.CreateWallet{Name: "w"})
	address := do(t, r.wallet(t, "w"), messages.NewAddress{Type: "p2mr"})
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	const limit = messages.PQCSignatureLimit
	setMade(t, r, "w", limit/4-3)
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	ref := checkedWallet(t, r, "w")
	const words = "PQC usage warning"
	check := func(what string, use messages.PQCUse, texts ...string) {
		t.Helper()
		var want []string
		for _, text := range texts {
			want = append(want, fmt.Sprintf("[w] PQC usage warning: PQC key %s %s",
				hex.EncodeToString(use.PublicKey[:]), text))
		}
		if got := log.take(words); !slices.Equal(got, want) {
			t.Errorf("%s: logged %q, want %q", what, got, want)
		}
	}
	check("far from it", do(t, ref, spendOf(t, address)).PQCKeys[0])
	check("packet", do(t, ref, packetOf(t, address)).PQCKeys[0])
	check("data", do(t, ref, messages.SignDataHash{Script: scriptAt(t, address)}).PQCKeys[0],
		"entered warning usage range (268435456 of 1073741824 signatures used, 805306368 remaining)")
	check("said once", do(t, ref, spendOf(t, address)).PQCKeys[0])
	coin := payment(scriptAt(t, address), 1)
	do(t, r.ref, messages.UnloadWallet{Name: "w"})
	setMade(t, r, "w", limit-1)
	do(t, r.ref, messages.LoadWallet{Name: "w"})
	ref = checkedWallet(t, r, "w")
	r.changes.Publish(messages.PoolChanged{Changes: []messages.PoolChange{{Tx: coin, Added: true}}})
	do(t, r.ref, messages.SyncWallets{})
	q := pay(10_000_000)
	q.Payments[0].Script, q.Sign = scriptAt(t, address), messages.SignAll
	check("payment", do(t, ref, q).PQCKeys[0],
		"reached the signature limit (1073741824 of 1073741824 signatures used, 0 remaining). "+
			"Rotate to a new key/address.")
}
