package e2e_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/internal/e2e"
)

// Annotations of an imported descriptor stay with the wallet, over restarts and in backups. Its birth height is the
// time from which on the chain is looked through, and its gap limit how far ahead scripts are derived. Methods of
// Bitcoin Core that take no annotations refuse them.
func TestAnnotatedWallet(t *testing.T) {
	t.Parallel()
	d := e2e.Start(t, e2e.Config{Chain: "regtest", Args: []string{"-keypool=5"}})
	const plain = "wpkh(tpubD6NzVbkrYhZ4WaWSyoBvQwbpLkojyoTZPRsgXELWz3Popb3qkjcJyJUGLnL4qHHoQvao8ESaAstxYSnhyswJ76uZPStJRJ" +
		"CTKvosUCJZL5B/0/*)"
	var address []string
	d.Get(&address, "deriveaddresses", sealedBy(d.Get, plain), []int{17, 17})
	d.Get(nil, "generatetodescriptor", 3, "raw(51)")
	d.Get(nil, "generatetoaddress", 1, address[0])
	d.Get(nil, "createwallet", "w", true)
	// The checksum is known from the error over a wrong one.
	annotated := plain + "?bh=4&gl=20"
	err := d.Call(t.Context(), nil, "getdescriptorinfo", annotated+"#qqqqqqqq")
	if err == nil {
		t.Fatal("a wrong checksum")
	}
	_, sum, _ := strings.Cut(err.Error(), "computed checksum '")
	annotated += "#" + sum[:8]
	for method, params := range map[string][]any{
		"getdescriptorinfo": {annotated}, "deriveaddresses": {annotated, 1},
		"scantxoutset": {"start", []string{annotated}},
	} {
		if err := d.Call(t.Context(), nil, method, params...); err == nil || !strings.Contains(err.Error(), "bh=4") {
			t.Errorf("%s: %v", method, err)
		}
	}
	var done []struct {
		Success bool
		Error   struct{ Message string }
	}
	d.Get(&done, "importdescriptors", []map[string]any{{"desc": annotated}})
	if len(done) != 1 || !done[0].Success {
		t.Fatalf("%+v", done)
	}
	err = d.Call(t.Context(), nil, "importdescriptors", []map[string]any{{"desc": sealedBy(d.Get, plain)}})
	if err == nil || !strings.Contains(err.Error(), "Missing required timestamp") {
		t.Errorf("without annotations: %v", err)
	}
	check := func(what string) {
		t.Helper()
		var list struct {
			Descriptors []struct {
				Desc        string
				Range       []int
				Annotations struct{ BH, GL *int }
			}
		}
		d.Get(&list, "listdescriptors")
		if len(list.Descriptors) != 1 {
			t.Fatalf("%s: %+v", what, list)
		}
		one := list.Descriptors[0]
		if one.Annotations.BH == nil || *one.Annotations.BH != 4 || one.Annotations.GL == nil ||
			*one.Annotations.GL != 20 || one.Desc != sealedBy(d.Get, plain) || one.Range[1] != 37 {
			t.Errorf("%s: %+v", what, one)
		}
		var received float64
		if d.Get(&received, "getreceivedbyaddress", address[0], 1, true); received != 50 {
			t.Errorf("%s: received %v", what, received)
		}
	}
	check("imported")
	d.Kill()
	d.Restart()
	var loaded []string
	if d.Get(&loaded, "listwallets"); len(loaded) == 0 {
		d.Get(nil, "loadwallet", "w")
	}
	check("after a kill")
	backup := filepath.Join(t.TempDir(), "backup.dat")
	d.Get(nil, "backupwallet", backup)
	d.Get(nil, "unloadwallet", "w")
	d.Get(nil, "restorewallet", "again", backup)
	check("restored")
	d.Get(nil, "exportwatchonlywallet", backup+".watch")
	d.Get(nil, "unloadwallet", "again")
	d.Get(nil, "restorewallet", "watch", backup+".watch")
	check("exported")
}
