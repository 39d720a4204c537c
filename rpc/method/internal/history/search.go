package history

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/messages"
)

// OfSearch returns the entries of a search as [CSV] does those of a wallet. Spends are payments of category "send". A
// search knows no fees. The label is the scan object's descriptor. The comment has the index, and the output that was
// spent. The chain has the given height. The function addressOf returns the address of a script, empty if it has none.
func OfSearch(entries []messages.SearchEntry, height int32, addressOf func(script []byte) string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(Columns) // a buffer does not fail
	for i := range entries {
		if e := &entries[i]; e.Type == messages.SearchReceive || e.Type == messages.SearchSpend {
			_ = w.Write(searchRow(e, height, addressOf))
		}
	}
	w.Flush()
	return b.Bytes()
}

func searchRow(e *messages.SearchEntry, height int32, addressOf func([]byte) string) []string {
	r := make([]string, len(Columns))
	r[4] = "0"
	if e.Height >= 0 {
		r[0] = e.Time.UTC().Format(time.RFC3339)
		r[4] = strconv.Itoa(int(max(height, e.Height)-e.Height) + 1)
		r[5], r[6] = strconv.Itoa(int(e.Height)), e.Block.String()
	}
	r[7], r[9], r[10] = e.TxID.String(), addressOf(e.Script), harmless(e.Object)
	var notes []string
	if e.Index >= 0 {
		notes = append(notes, fmt.Sprintf("index %d", e.Index))
	}
	if e.Type == messages.SearchReceive {
		r[1], r[2], r[8] = "receive", amount(btcutil.Amount(e.Amount)), strconv.FormatUint(uint64(e.N), 10)
	} else {
		r[1], r[2] = "send", amount(-btcutil.Amount(e.Amount))
		notes = append(notes, fmt.Sprintf("spends %v:%d", e.PrevTxID, e.PrevVout))
	}
	r[11] = strings.Join(notes, ", ")
	return r
}
