package wallets_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/chaintest"
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

// From its first moment until it is answered an import shows as scanning, and lists of descriptors wait for its
// descriptors: a client that polls does not take the import for done.
func TestImportShowsAsScanning(t *testing.T) {
	const last = 20_000
	chain := newChain()
	script := scriptsAt(t, outOfOrderDesc, 1)[0]
	paid := paying(chain, [][]byte{script}, 0)
	chain.Mine(chaintest.Template{Txs: paid})
	for _, abort := range []bool{false, true} {
		t.Run(fmt.Sprintf("abort %v", abort), func(t *testing.T) {
			r := newRig(t, chain, setup{noFilters: true, keyPool: 2, now: genesis})
			do(t, r.ref, messages.CreateWallet{Name: "w", Blank: true})
			ref := r.wallet(t, "w")
			var items []messages.ImportItem
			for _, text := range []string{outOfOrderDesc, "wpkh(" + outOfOrderXprv + "/1/*)"} {
				items = append(items, messages.ImportItem{
					Desc: descriptor.AddChecksum(text), Range: &[2]int64{0, last}, Timestamp: 0,
				})
			}
			done := make(chan error, 1)
			go func() {
				_, err := try(t, ref, messages.ImportDescriptors{Items: items})
				done <- err
			}()
			for !do(t, ref, messages.GetWalletInfo{}).Scanning {
			}
			_, err := try(t, ref, messages.ImportDescriptors{Items: items})
			refusal(t, err, -4, "Wallet is currently rescanning. Abort existing rescan or wait.")
			_, err = try(t, r.ref, messages.UnloadWallet{Name: "w"})
			refusal(t, err, -4, "Wallet is currently rescanning. Abort existing rescan or wait.")
			if abort && !do(t, ref, messages.AbortRescan{}) {
				t.Error("not aborted")
			}
			if list := do(t, ref, messages.ListDescriptors{}); len(list) != len(items) {
				t.Errorf("%d descriptors are listed", len(list))
			}
			for do(t, ref, messages.GetWalletInfo{}).Scanning {
			}
			_, known := try(t, ref, messages.GetTransaction{TxID: paid[0].TxHash()})
			if err := <-done; abort {
				refusal(t, err, -1, "Rescan aborted by user.")
			} else if err != nil || known != nil {
				t.Errorf("%v; the payment: %v", err, known)
			}
			if do(t, ref, messages.AbortRescan{}) {
				t.Error("aborted what is over")
			}
			do(t, r.ref, messages.UnloadWallet{Name: "w"})
		})
	}
}
