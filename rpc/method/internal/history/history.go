// Package history writes the history of a wallet, and that of a search, as comma-separated values.
//
// The package is pure.
package history

import (
	"bytes"
	"encoding/csv"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
)

// Columns are the names of the columns. Amounts are in coins; what is sent, and fees, are negative.
var Columns = []string{
	"time", "category", "amount", "fee", "confirmations", "height", "blockhash", "txid", "vout", "address", "label",
	"comment",
}

// CSV returns entries as lines by RFC 4180, after a line with the names of the columns. A value that an entry does not
// have is empty. The fee of a transaction is in the first of its lines, so that fees can be summed up.
func CSV(entries []messages.TxEntry) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(Columns) // a buffer does not fail
	charged := map[chainhash.Hash]bool{}
	for i := range entries {
		e := &entries[i]
		_ = w.Write(row(e, charged[e.Tx.TxID]))
		charged[e.Tx.TxID] = charged[e.Tx.TxID] || e.HasFee
	}
	w.Flush()
	return b.Bytes()
}

func row(e *messages.TxEntry, charged bool) []string {
	r := make([]string, len(Columns))
	r[0] = time.Unix(e.Tx.Time, 0).UTC().Format(time.RFC3339)
	r[1], r[2] = e.Category, amount(e.Amount)
	if e.HasFee && !charged {
		r[3] = amount(e.Fee)
	}
	r[4] = strconv.Itoa(int(e.Tx.Confirmations))
	if e.Tx.Confirmations > 0 {
		r[5], r[6] = strconv.Itoa(int(e.Tx.BlockHeight)), e.Tx.BlockHash.String()
	}
	r[7] = e.Tx.TxID.String()
	if !e.NoOutput {
		r[8] = strconv.FormatUint(uint64(e.Vout), 10)
	}
	r[9], r[10], r[11] = e.Address, harmless(e.Label), harmless(e.Tx.Comment)
	return r
}

func amount(a btcutil.Amount) string { return jsontree.Amount(a).String() }

// harmless returns a text that no program for tables takes for a formula.
func harmless(text string) string {
	if text != "" && strings.ContainsRune("=+-@\t\r", rune(text[0])) {
		return "'" + text
	}
	return text
}
