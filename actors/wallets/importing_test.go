package wallets_test

import (
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/messages"
)

// A wallet serves others between the descriptors of a long import, of which all
// are there in the end, and refuses a second one meanwhile.
func TestImportLetsOthersBeServed(t *testing.T) {
	const count = 1_000
	r := small(t, setup{})
	do(t, r.ref, messages.CreateWallet{Name: "w", Blank: true, DisablePrivateKeys: true})
	ref := r.wallet(t, "w")
	items, scripts := make([]messages.ImportItem, count), make([][]byte, count)
	for i := range items {
		scripts[i] = binary.BigEndian.AppendUint32(append([]byte{0, 20}, make([]byte, 16)...), uint32(i))
		address, _ := descriptor.AddressOf(scripts[i], descriptor.NetworkOf(&chaincfg.RegressionNetParams))
		items[i] = messages.ImportItem{
			Desc: descriptor.AddChecksum("addr(" + address + ")"), Timestamp: messages.NowTimestamp,
		}
	}
	has := func(n int) bool { return do(t, ref, messages.GetAddressInfo{Script: scripts[n]}).IsMine }
	items[count/2].Desc = "nothing"
	done := make(chan []messages.ImportResult, 1)
	go func() {
		results, err := try(t, ref, messages.ImportDescriptors{Items: items})
		if err != nil {
			t.Error(err)
		}
		done <- results
	}()
	between := false
	var results []messages.ImportResult
	for results == nil {
		if !between && has(0) && !has(count-1) {
			between = true
			_, err := try(t, ref, messages.ImportDescriptors{Items: items[:1]})
			var failure *messages.WalletError
			if err != nil && (!errors.As(err, &failure) || !strings.Contains(failure.Text, "currently rescanning")) {
				t.Errorf("a second import: %v", err)
			}
		}
		select {
		case results = <-done:
		default:
			do(t, ref, messages.GetWalletInfo{})
		}
	}
	if !between {
		t.Error("nobody was served during the import")
	}
	if len(results) != count || len(do(t, ref, messages.ListDescriptors{})) != count-1 {
		t.Fatalf("%d results", len(results))
	}
	for i, result := range results {
		if (result.Err != nil) != (i == count/2) {
			t.Errorf("result %d: %v", i, result.Err)
		}
	}
}
