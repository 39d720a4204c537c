package files

import (
	"bytes"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/corelog"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/records"
	"github.com/seed61375155/trawl/internal/walletfile"
)

// The log lines about a wallet that is loaded or made have the reference's words. They have no descriptors
// and no keys, only the number of each, and the ids of descriptors.

// Label is how the wallet is called in the log.
func (s *Spec) Label() string {
	if s.Name == "" {
		return "default wallet"
	}
	return s.Name
}

// Logf logs a line about the wallet.
func (s *Spec) Logf(format string, args ...any) {
	corelog.Printf(s.cfg.Log, slog.LevelInfo, "[%s] "+format, append([]any{s.Label()}, args...)...)
}

// logContent logs how many descriptors and keys a file has.
func (s *Spec) logContent(content *walletfile.Wallet) {
	s.Logf("%s", content.CountText(s.cfg.Network.Wallet().SlowKeys))
}

// logSkipped logs addresses that the address book of a file has, and the network does not.
func (s *Spec) logSkipped(texts []string) {
	for _, text := range texts {
		reason := ""
		free := *s.cfg.Network.Descriptors()
		free.Restricted = false
		if _, err := descriptor.ScriptOfAddress(text, &free); err == nil {
			reason = ": Address type is not supported on this chain; use a p2mr address."
		}
		s.Logf("Skipping address book metadata for unsupported address '%s'%s", text, reason)
	}
}

// logLoadedActive logs which descriptors of a file give new addresses.
func (s *Spec) logLoadedActive(active map[walletfile.Slot]chainhash.Hash) {
	slots := slices.SortedFunc(maps.Keys(active), func(a, b walletfile.Slot) int {
		return bytes.Compare(a.Key(), b.Key())
	})
	for _, slot := range slots {
		s.logActive(slot, active[slot])
	}
}

// LogChanges logs which descriptors give new addresses from now on.
func (s *Spec) LogChanges(changes []records.Change) {
	for _, c := range changes {
		if slot, ok := walletfile.SlotOf(c.Key); ok && len(c.Value) == chainhash.HashSize {
			s.logActive(slot, chainhash.Hash(c.Value))
		}
	}
}

func (s *Spec) logActive(slot walletfile.Slot, id chainhash.Hash) {
	kind := descriptor.OutputType(slot.Type) + descriptor.Legacy
	s.Logf("Setting spkMan to active: id = %v, type = %v, internal = %v", id, kind, slot.Internal)
}

// logCompleted logs how long it took to load the wallet, or to make it.
func (s *Spec) logCompleted(began time.Time) {
	s.Logf("Wallet completed loading in %15dms", time.Since(began).Milliseconds())
}

// LogSizes logs how large a wallet is that is ready.
func (s *Spec) LogSizes(w *wallet.Wallet) {
	receiving, change := w.Keys().PoolSizes()
	s.Logf("setKeyPool.size() = %d", receiving+change)
	s.Logf("mapWallet.size() = %d", w.Txs().Count())
	s.Logf("m_address_book.size() = %d", w.Book().Len())
}
