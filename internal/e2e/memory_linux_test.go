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

// TestLockedKeysLeaveMemory looks for a private key in the memory of a node. An encrypted wallet has
// imported that key and signed a transaction. Hardly any copy may be left, locked or not. The key of
// a wallet without a passphrase is there.
func TestLockedKeysLeaveMemory(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	const key = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
	const other = "tprv8ZgxMBicQKsPePp3ijiziJAMKBsqkvsffzma4GKW89KeM5ST9iGaTweUb6iy6dCJjadASj9As5Em13WxqwhK82Rpmt5snsfbiadVYryvKBT"
	secret := scalarOf(t, key)
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-keypool=20"}})
	importKey := func(key string) {
		desc := "wpkh(" + key + "/84h/1h/0h/0/*)"
		var info struct{ Checksum string }
		d.Get(&info, "getdescriptorinfo", desc)
		desc += "#" + info.Checksum
		d.Get(nil, "importdescriptors", []any{map[string]any{"desc": desc, "timestamp": "now", "active": true}})
	}
	d.Get(nil, "createwallet", "plain", false, true)
	importKey(other)
	if inMemory(t, d.PID(), scalarOf(t, other)) == 0 {
		t.Fatal("the key of a wallet without a passphrase is not where this test looks for it")
	}
	d.Get(nil, "unloadwallet", "plain")
	d.Get(nil, "createwallet", "w", false, true, "a passphrase")
	d.Get(nil, "walletpassphrase", "a passphrase", 1000)
	importKey(key)
	var address, raw string
	d.Get(&address, "getnewaddress", "", "bech32")
	d.Get(nil, "generatetoaddress", 101, address)
	var unspent []map[string]any
	d.Get(&unspent, "listunspent")
	inputs := []any{map[string]any{"txid": unspent[0]["txid"], "vout": unspent[0]["vout"]}}
	d.Get(&raw, "createrawtransaction", inputs, map[string]any{address: 49})
	d.Get(nil, "signrawtransactionwithwallet", raw)
	open := inMemory(t, d.PID(), secret)
	d.Get(nil, "walletlock")
	for range 300 { // what is free is overwritten as it is used again
		d.Get(nil, "getblockcount")
	}
	locked := inMemory(t, d.PID(), secret)
	t.Logf("%d copies before, %d after", open, locked)
	if open > maxCopies || locked > maxCopies {
		t.Errorf("%d copies of the key are there, and %d after locking, want at most %d", open, locked, maxCopies)
	}
}

// TestDiscoveredKeysLeaveMemory looks for a key and for words in the memory of a node that has looked for their accounts.
func TestDiscoveredKeysLeaveMemory(t *testing.T) {
	e2e.SkipUnderRace(t, "it takes too long")
	t.Parallel()
	const key = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
	const words = "legal winner thank year wave sausage worth useful legal winner thank yellow"
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex"}})
	options := map[string]any{"gap": 20, "account_gap": 10}
	for range 3 {
		d.Get(nil, "discoveraccounts", "start", key, "", options)
		d.Get(nil, "discoveraccounts", "start", words, "a passphrase of ours", options)
		d.Get(nil, "discoveraccounts", "start", "wpkh("+key+"/84h/1h/0h/0/*)", "", options)
	}
	for range 300 { // what is free is overwritten as it is used again
		d.Get(nil, "getblockcount")
	}
	memory := writable(t, d.PID())
	for name, secret := range map[string][]byte{
		"private key": scalarOf(t, key), "text of the key": []byte(key[40:]), "words": []byte(words[20:]),
		"passphrase": []byte("passphrase of ours"),
	} {
		copies := bytes.Count(memory, secret)
		t.Logf("%d copies of the %s", copies, name)
		if copies > 2*maxCopies { // of nine discoveries
			t.Errorf("%d copies of the %s are left, want at most %d", copies, name, 2*maxCopies)
		}
	}
}

// scalarOf returns the private key in an extended key.
func scalarOf(tb testing.TB, key string) []byte {
	tb.Helper()
	payload, _, err := base58.CheckDecode(key)
	if err != nil {
		tb.Fatal(err)
	}
	return payload[len(payload)-32:]
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
