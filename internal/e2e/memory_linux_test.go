package e2e_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcutil/base58"

	"github.com/seed61375155/trawl/internal/e2e"
)

// TestLockedKeysLeaveMemory looks for a private key in the memory of a node after its
// wallet was locked: hardly any of the copies that importing and signing make may stay.
func TestLockedKeysLeaveMemory(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	const key = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
	payload, _, err := base58.CheckDecode(key)
	if err != nil {
		t.Fatal(err)
	}
	secret := payload[len(payload)-32:]
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-keypool=20"}})
	d.Get(nil, "createwallet", "w", false, true, "a passphrase")
	d.Get(nil, "walletpassphrase", "a passphrase", 1000)
	var info struct{ Checksum string }
	desc := "wpkh(" + key + "/84h/1h/0h/0/*)"
	d.Get(&info, "getdescriptorinfo", desc)
	d.Get(nil, "importdescriptors", []any{map[string]any{"desc": desc + "#" + info.Checksum, "timestamp": "now", "active": true}})
	var address, raw string
	d.Get(&address, "getnewaddress", "", "bech32")
	d.Get(nil, "generatetoaddress", 101, address)
	var unspent []map[string]any
	d.Get(&unspent, "listunspent")
	inputs := []any{map[string]any{"txid": unspent[0]["txid"], "vout": unspent[0]["vout"]}}
	d.Get(&raw, "createrawtransaction", inputs, map[string]any{address: 49})
	d.Get(nil, "signrawtransactionwithwallet", raw)
	open := inMemory(t, d.PID(), secret)
	if open == 0 {
		t.Fatal("the key of the open wallet is not where this test looks for it")
	}
	d.Get(nil, "walletlock")
	for range 300 { // what is free is overwritten as it is used again
		d.Get(nil, "getblockcount")
	}
	locked := inMemory(t, d.PID(), secret)
	t.Logf("%d copies before, %d after", open, locked)
	if locked > maxCopies {
		t.Errorf("%d copies of the key are left of %d, want at most %d", locked, open, maxCopies)
	}
}

// maxCopies is how many copies of a key may be left where Go has not used their
// places again yet. There were 24 before they were overwritten.
const maxCopies = 2

// inMemory counts how often bytes are in the writable memory of a process.
func inMemory(tb testing.TB, pid int, wanted []byte) int {
	tb.Helper()
	return bytes.Count(writable(tb, pid), wanted)
}

// writable returns what the writable memory of a process holds.
func writable(tb testing.TB, pid int) (all []byte) {
	tb.Helper()
	maps, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		tb.Fatal(err)
	}
	defer maps.Close()
	memory, err := os.Open(fmt.Sprintf("/proc/%d/mem", pid))
	if err != nil {
		tb.Skip("the memory of processes cannot be read here: ", err)
	}
	defer memory.Close()
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		var from, to int64
		var rights string
		if _, err := fmt.Sscanf(lines.Text(), "%x-%x %s", &from, &to, &rights); err != nil ||
			!strings.HasPrefix(rights, "rw") {
			continue
		}
		content, _ := io.ReadAll(io.NewSectionReader(memory, from, to-from)) // some parts cannot be read
		all = append(all, content...)
	}
	return all
}
