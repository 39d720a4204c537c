package history_test

import (
	"bytes"
	"encoding/csv"
	"testing"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/method/internal/history"
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
		{Tx: paying, Category: "send", Address: "b", Amount: -1, Vout: 12, Fee: -7, HasFee: true},
		{Tx: got, Category: "receive", Address: "c", Label: "-shop", Amount: 21},
		{Tx: got, Category: "send", NoOutput: true, Fee: -9, HasFee: true},
	})
	const zeros = "00000000000000000000000000000000000000000000000000000000000000"
	const want = "time,category,amount,fee,confirmations,height,blockhash,txid,vout,address,label,comment\n" +
		"2023-11-14T22:13:20Z,send,-1.50000000,-0.00000007,0,,,01" + zeros + ",1,a,\"x, \"\"y\"\"\nz\",'=SUM(A1)\n" +
		"2023-11-14T22:13:20Z,send,-0.00000001,,0,,,01" + zeros + ",12,b,,'=SUM(A1)\n" +
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

// The history of a search has the columns of a wallet's.
func TestOfSearch(t *testing.T) {
	at := time.Unix(1700000000, 0)
	text := history.OfSearch([]messages.SearchEntry{
		{
			Type: messages.SearchReceive, Height: 7, Block: chainhash.Hash{31: 3}, Time: at, Amount: 150000000,
			TxID: chainhash.Hash{31: 1}, N: 14, Script: []byte{1}, Object: "wpkh(x/*)", Index: 5,
		},
		{
			Type: messages.SearchSpend, Height: 9, Block: chainhash.Hash{31: 4}, Time: at.Add(time.Second), Amount: 1,
			TxID: chainhash.Hash{31: 2}, N: 6, Script: []byte{2}, Object: "=raw", Index: -1,
			PrevTxID: chainhash.Hash{31: 1}, PrevVout: 4,
		},
		{Type: messages.SearchDisconnect, Height: 9},
		{Type: messages.SearchBlock, Height: 9},
		{
			Type: messages.SearchSpend, Height: -1, TxID: chainhash.Hash{31: 2}, Object: "wpkh(x/*)", Index: 0,
			PrevTxID: chainhash.Hash{31: 1}, PrevVout: 1,
		},
	}, 9, func(script []byte) string {
		if len(script) > 0 && script[0] == 1 {
			return "bcrt1"
		}
		return ""
	})
	const zeros = "00000000000000000000000000000000000000000000000000000000000000"
	const want = "time,category,amount,fee,confirmations,height,blockhash,txid,vout,address,label,comment\n" +
		"2023-11-14T22:13:20Z,receive,1.50000000,,3,7,03" + zeros + ",01" + zeros + ",14,bcrt1,wpkh(x/*),index 5\n" +
		"2023-11-14T22:13:21Z,send,-0.00000001,,1,9,04" + zeros + ",02" + zeros + ",,,'=raw,spends 01" + zeros + ":4\n" +
		",send,0.00000000,,0,,,02" + zeros + ",,,wpkh(x/*),\"index 0, spends 01" + zeros + ":1\"\n"
	if string(text) != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}
