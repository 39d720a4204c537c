package history_test

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/walletrpc/internal/history"
)

func TestCSV(t *testing.T) {
	paying := messages.WalletTx{TxID: chainhash.Hash{31: 1}, Time: 1700000000, Comment: "=SUM(A1)"}
	got := messages.WalletTx{
		TxID: chainhash.Hash{31: 2}, Time: 1700000001, Confirmations: 3, BlockHeight: 9,
		BlockHash: chainhash.Hash{31: 3},
	}
	text := history.CSV([]messages.TxEntry{
		{
			Tx: paying, Category: "send", Address: "a", Label: "x, \"y\"\nz", Amount: -150000000, Vout: 1, Fee: -7,
			HasFee: true,
		},
		{Tx: paying, Category: "send", Address: "b", Amount: -1, Vout: 2, Fee: -7, HasFee: true},
		{Tx: got, Category: "receive", Address: "c", Label: "-shop", Amount: 21},
		{Tx: got, Category: "send", NoOutput: true, Fee: -9, HasFee: true},
	})
	const zeros = "00000000000000000000000000000000000000000000000000000000000000"
	const want = "time,category,amount,fee,confirmations,height,blockhash,txid,vout,address,label,comment\n" +
		"2023-11-14T22:13:20Z,send,-1.50000000,-0.00000007,0,,,01" + zeros + ",1,a,\"x, \"\"y\"\"\nz\",'=SUM(A1)\n" +
		"2023-11-14T22:13:20Z,send,-0.00000001,,0,,,01" + zeros + ",2,b,,'=SUM(A1)\n" +
		"2023-11-14T22:13:21Z,receive,0.00000021,,3,9,03" + zeros + ",02" + zeros + ",0,c,'-shop,\n" +
		"2023-11-14T22:13:21Z,send,0.00000000,-0.00000009,3,9,03" + zeros + ",02" + zeros + ",,,,\n"
	if string(text) != want {
		t.Errorf("%s\nwant %s", text, want)
	}
	if none := string(history.CSV(nil)); none != want[:len(none)] {
		t.Errorf("%q", none)
	}
}

// Each entry is a record with all columns, for any texts, and no text is a formula.
func FuzzCSV(f *testing.F) {
	f.Add("a,b", "=1", "\"", int64(-5))
	f.Add("\r\n", "@", "\x00", int64(1)<<62)
	f.Fuzz(func(t *testing.T, address, label, comment string, amount int64) {
		e := messages.TxEntry{Address: address, Label: label, Amount: btcutil.Amount(amount)}
		e.Tx.Comment = comment
		records, err := csv.NewReader(bytes.NewReader(history.CSV([]messages.TxEntry{e, e}))).ReadAll()
		if err != nil || len(records) != 3 {
			t.Fatalf("%q, %v", records, err)
		}
		for _, text := range records[1][10:] {
			if text != "" && bytes.ContainsAny([]byte(text[:1]), "=+-@\t\r") {
				t.Errorf("%q is a formula", text)
			}
		}
	})
}
