package e2e_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil/base58"

	"github.com/seed61375155/trawl/internal/e2e"
)

// keyOfScan is a private key, alone and as bytes; accountOfScan an extended one.
const (
	keyOfScan     = "cUeKHd5orzT3mz8P9pxyREHfsWtVfgsfDjiZZBcjUBAaGk1BTj7N"
	accountOfScan = "tprv8ZgxMBicQKsPd7Uf69XL1XwhmjHopUGep8GuEiJDZmbQz6o58LninorQAfcKZWARbtRtfnLcJ5MQ2AtHcQJCCRUcMRvmDUjyEmNUWwx8UbK"
)

// The private keys of scan objects stay in memory: what they are for is kept and shown
// as public descriptors, and scripts where hardened steps make those too little.
func TestSearchKeepsNoPrivateKey(t *testing.T) {
	t.Parallel()
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-blockfilterindex=1", "-searchroom=1", "-debug=1"}})
	var key struct{ Descriptor string }
	d.Get(&key, "getdescriptorinfo", "pkh("+keyOfScan+")")
	var addresses []string
	d.Get(&addresses, "deriveaddresses", key.Descriptor)
	d.Get(nil, "generatetoaddress", 3, addresses[0])
	first := []any{
		"pkh(" + keyOfScan + ")", map[string]any{"desc": "wpkh(" + accountOfScan + "/0'/*)", "range": 20},
	}
	further := []any{
		map[string]any{"desc": "tr(" + accountOfScan + "/1/*')", "range": 10}, "wpkh(" + keyOfScan + ")",
	}
	said := new(bytes.Buffer)
	get := func(method string, params ...any) (result json.RawMessage) {
		d.Get(&result, method, params...)
		said.Write(result)
		return result
	}
	var made struct{ ID string }
	raw := get("createsearch", first, map[string]any{"name": "keys", "follow": true})
	if err := json.Unmarshal(raw, &made); err != nil {
		t.Fatal(err)
	}
	get("extendsearch", made.ID, further)
	for _, method := range []string{"getsearch", "pausesearch", "resumesearch", "getsearchentries"} {
		get(method, made.ID)
	}
	get("listsearches")
	d.Get(nil, "generatetoaddress", 2, addresses[0])
	e2e.Eventually(t, time.Minute, "five payments", func() bool {
		var page searchPage
		if err := json.Unmarshal(get("getsearchentries", made.ID), &page); err != nil {
			t.Fatal(err)
		}
		return len(page.Entries) == 5
	})
	get("scanblocks", "start", append(first, further...), 0, 5, "basic", map[string]any{"activity": true})
	said.WriteString(d.Log())
	d.Stop() // what is in memory is written
	noKey(t, "replies and log", said.Bytes())
	err := filepath.WalkDir(d.Dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		noKey(t, path, data)
		return err
	})
	if err != nil {
		t.Error(err)
	}
	d.Restart() // and what is read again
	said.Reset()
	get("getsearch", made.ID)
	if get("getsearchentries", made.ID); bytes.Count(said.Bytes(), []byte(`"receive"`)) != 5 {
		t.Errorf("after a restart: %.500s", said)
	}
	noKey(t, "replies after a restart", said.Bytes())
}

// noKey looks for pieces of the keys, which a compressed file has too, and for the
// version that begins any key that is extended and private.
func noKey(t *testing.T, where string, data []byte) {
	t.Helper()
	for _, key := range []string{keyOfScan, accountOfScan[40:]} {
		for at := 0; at+12 <= len(key); at += 6 {
			if bytes.Contains(data, []byte(key[at:at+12])) {
				t.Errorf("%s: a piece of a private key", where)
			}
		}
	}
	account := base58.Decode(accountOfScan)
	for _, secret := range [][]byte{base58.Decode(keyOfScan)[1:33], account[46:78], []byte("tprv8Zgx")} {
		if bytes.Contains(data, secret) || bytes.Contains(data, []byte(hex.EncodeToString(secret))) {
			t.Errorf("%s: a private key", where)
		}
	}
}
