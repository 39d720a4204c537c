package mempoolrpc_test

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/messages"
)

// Members that are going away are shown by Core 30 in their place, by Core 32 at the end and on demand alone.
func TestDeprecatedMembers(t *testing.T) {
	const (
		entryEnd = `"spentby":[],`
		infoRest = `"permitbaremultisig":false,"maxdatacarriersize":0`
	)
	for _, test := range []struct {
		reference   int
		kept        []string
		entry, info string // how they end
	}{
		{30, nil, entryEnd + `"bip125-replaceable":true,"unbroadcast":true}}`, `"unbroadcastcount":0,"fullrbf":true,` + infoRest + `}`},
		{32, nil, entryEnd + `"unbroadcast":true}}`, `"unbroadcastcount":0,` + infoRest + `}`},
		{32, []string{"warnings"}, entryEnd + `"unbroadcast":true}}`, `"unbroadcastcount":0,` + infoRest + `}`},
		{
			32, []string{"bip125", "fullrbf"}, entryEnd + `"unbroadcast":true,"bip125-replaceable":true}}`,
			`"unbroadcastcount":0,` + infoRest + `,"fullrbf":true}`,
		},
	} {
		r := newRigAs(t, test.reference, test.kept...)
		r.txs = []messages.PoolTx{{ID: chainhash.Hash{5}, Replaceable: true, Unbroadcast: true}}
		if got := r.call("getrawmempool", `[true]`); !strings.HasSuffix(got, test.entry) {
			t.Errorf("%d, %v: %s, want … %s", test.reference, test.kept, got, test.entry)
		}
		if got := r.call("getmempoolinfo", `[]`); !strings.HasSuffix(got, test.info) {
			t.Errorf("%d, %v: %s, want … %s", test.reference, test.kept, got, test.info)
		}
		for _, method := range []string{"getmempoolentry", "getrawmempool", "getmempoolinfo"} {
			has := strings.Contains(r.table.Help(method), `"bip125-replaceable"`) ||
				strings.Contains(r.table.Help(method), `"fullrbf"`)
			if want := test.reference == dialect.Core30 || len(test.kept) == 2; has != want {
				t.Errorf("%d, %v: help of %s shows it: %v", test.reference, test.kept, method, has)
			}
		}
	}
}

// Core 32 tells both virtual sizes, with and without what signature operations add.
func TestBothSizes(t *testing.T) {
	for reference, want := range map[int]string{
		dialect.Core30: `"vsize":500,"weight":401,`,
		dialect.Core32: `"vsize":500,"vsize_bip141":101,"vsize_adjusted":500,"weight":401,`,
	} {
		r := newRigAs(t, reference)
		r.txs = []messages.PoolTx{{ID: chainhash.Hash{5}, VSize: 500, Weight: 401}}
		if got := r.call("getrawmempool", `[true]`); !strings.Contains(got, want) {
			t.Errorf("%d: %s, want %s", reference, got, want)
		}
		r.result = messages.PackageResult{Results: []messages.TxResult{{Known: true, VSize: 500}}}
		got := r.call("submitpackage", `[["`+someTx+`"]]`)
		if has := strings.Contains(got, `"vsize":500,"vsize_bip141":`); has != (reference == dialect.Core32) {
			t.Errorf("%d: %s", reference, got)
		}
	}
}

// A package that is refused as a whole says of no transaction what is wrong with it: Core 31 says that.
func TestUnseenPackage(t *testing.T) {
	for reference, want := range map[int]string{
		dialect.Core30: `"tx-results":{},`,
		dialect.Core32: `","error":"package-not-validated"}},"replaced-transactions":[]}`,
	} {
		r := newRigAs(t, reference)
		r.result = messages.PackageResult{Failed: errPackage, Policy: true, Results: make([]messages.TxResult, 1)}
		if got := r.call("submitpackage", `[["`+someTx+`"]]`); !strings.Contains(got, want) {
			t.Errorf("%d: %s", reference, got)
		}
	}
}
