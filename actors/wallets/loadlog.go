package wallets

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

func (h *home) logf(format string, args ...any) {
	corelog.Printf(h.cfg.Log, slog.LevelInfo, "[%s] "+format, append([]any{h.label()}, args...)...)
}

// logContent logs how many descriptors and keys a file has.
func (h *home) logContent(content *walletfile.Wallet) {
	h.logf("%s", content.CountText(h.cfg.Network.Wallet().SlowKeys))
}

// logSkipped logs addresses that the address book of a file has, and the network does not.
func (h *home) logSkipped(texts []string) {
	for _, text := range texts {
		reason := ""
		free := *h.net
		free.Restricted = false
		if _, err := descriptor.ScriptOfAddress(text, &free); err == nil {
			reason = ": Address type is not supported on this chain; use a p2mr address."
		}
		h.logf("Skipping address book metadata for unsupported address '%s'%s", text, reason)
	}
}

// logLoadedActive logs which descriptors of a file give new addresses.
func (h *home) logLoadedActive(active map[walletfile.Slot]chainhash.Hash) {
	slots := slices.SortedFunc(maps.Keys(active), func(a, b walletfile.Slot) int {
		return bytes.Compare(a.Key(), b.Key())
	})
	for _, slot := range slots {
		h.logActive(slot, active[slot])
	}
}

// logChanges logs which descriptors give new addresses from now on.
func (h *home) logChanges(changes []records.Change) {
	for _, c := range changes {
		if slot, ok := walletfile.SlotOf(c.Key); ok && len(c.Value) == chainhash.HashSize {
			h.logActive(slot, chainhash.Hash(c.Value))
		}
	}
}

func (h *home) logActive(slot walletfile.Slot, id chainhash.Hash) {
	kind := descriptor.OutputType(slot.Type) + descriptor.Legacy
	h.logf("Setting spkMan to active: id = %v, type = %v, internal = %v", id, kind, slot.Internal)
}

// logCompleted logs how long it took to load the wallet, or to make it.
func (h *home) logCompleted(began time.Time) {
	h.logf("Wallet completed loading in %15dms", time.Since(began).Milliseconds())
}

// logSizes logs how large a wallet is that is ready.
func (h *home) logSizes(w *wallet.Wallet) {
	receiving, change := w.Keys().PoolSizes()
	h.logf("setKeyPool.size() = %d", receiving+change)
	h.logf("mapWallet.size() = %d", w.Txs().Count())
	h.logf("m_address_book.size() = %d", w.Book().Len())
}
