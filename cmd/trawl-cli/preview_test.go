package main

import (
	"strings"
	"testing"
)

// The page about a backup has what the reply has.
func TestPreviewRestore(t *testing.T) {
	const (
		sound = `{"size":9,"format":"sqlite","intact":true,"recovered":["rolled back by its journal"],"warnings":["w1"],"flags":[],` +
			`"descriptors":[],"restore":{"name":"w","possible":true}}`
		partial = `{"size":9,"format":"sqlite","intact":false,"warnings":["a part is lost"],"flags":[],"descriptors":[],` +
			`"restore":{"name":"w","possible":true}}`
		body = `Keys          no private keys
Flags         
Contents      0 transactions, 0 labels, 0 descriptors
Last block    none

A restore now
Wallet        "w"
Rescan        none: the wallet is up to date
`
	)
	for reply, want := range map[string]string{
		sound: `Backup        /b, 9 bytes
Format        wallet of Bitcoin Core (SQLite)
State         intact
Changes       rolled back by its journal
Warning       w1
` + body,
		partial: `Backup        /b, 9 bytes
Format        wallet of Bitcoin Core (SQLite)
State         can be restored in part only
Warning       a part is lost
` + body,
		`{"size":5,"format":"unknown","intact":false,"problem":"no wallet\n"}`: `Backup        /b, 5 bytes
Format        no wallet of this network
State         cannot be restored: no wallet
`,
		`{"size":9,"format":"sqlite","intact":true,"flags":["blank"],"private_keys":true,"encrypted":true,
		"birthtime":1700000000,"txcount":3,"labels":4,"lastprocessedblock":{"hash":"ab","height":7},"descriptorcount":3,
		"descriptors":[{"desc":"a","timestamp":1700000000,"active":true,"internal":false,"range":[0,9],"next_index":1,
		"private_keys":true,"fingerprints":["f1"],"addresses":["x","y"]},{"desc":"b","timestamp":1700000000,
		"active":false,"private_keys":false,"fingerprints":[],"addresses":[]}],"restore":{"name":"w","possible":false,
		"problem":"taken","rescan_blocks":3,"rescan_from":8,"rescan_to":10,"filters":true,"blocks_to_fetch":1,
		"estimated_seconds":62}}`: `Backup        /b, 9 bytes
Format        wallet of Bitcoin Core (SQLite)
State         intact
Keys          private keys, with a passphrase
Flags         blank
Contents      3 transactions, 4 labels, 3 descriptors
Keys since    2023-11-14 22:13 UTC
Last block    7, ab

A restore now
Wallet        "w"
Would fail    taken
Rescan        3 blocks, from 8 to 10, by block filters
To fetch      1 blocks that are not on the disk
Time          about 1m2s

a
  Use         for receiving, since 2023-11-14 22:13 UTC
  Fingerprints f1
  Range       0 to 9, the next is 1
  Address     x
  Address     y

b
  Use         not active, watched only, since 2023-11-14 22:13 UTC

and 1 more descriptors
`,
	} {
		status := 1
		if reply == sound {
			status = 0
		}
		s := newServer(t, 200, `{"result":`+reply+`,"error":null,"id":1}`)
		cli(t, "", s.port(), "-rpcpassword=p", "-previewrestore", "/b").want(t, status, want, "")
		if body := strings.Join(s.askedBody, ""); !strings.Contains(body, `"method":"previewrestore","params":["/b"]`) {
			t.Error(body)
		}
	}
	s := newServer(t, 200, "")
	cli(t, "", s.port(), "-rpcpassword=p", "-previewrestore").want(
		t, 1, "", "error: -previewrestore takes the path of a backup and perhaps a name for the wallet\n",
	)
}
