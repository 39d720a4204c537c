package mempool_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/seed61375155/trawl/actors/mempool"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
)

// The fee rates of chosen transactions, with their added deltas, go to the log if the
// request asks for these lines.
func TestChosenRatesAreLogged(t *testing.T) {
	var log bytes.Buffer
	r := newRig(t, func(c *mempool.Config) { c.Log = slog.New(slog.NewTextHandler(&log, nil)) })
	tx := spend(50*coin-1000, r.coins[0])
	if err := r.submit(tx); err != nil {
		t.Fatal(err)
	}
	id := tx.TxHash()
	ok(ask.Ask(t.Context(), r.pool, messages.PrioritiseTx{ID: id, Delta: 2e8})).must(t)
	const line = "fee rate "
	ok(ask.Ask(t.Context(), r.pool, messages.SelectTxs{})).must(t)
	if strings.Contains(log.String(), line) {
		t.Errorf("logged: %s", log.String())
	}
	ok(ask.Ask(t.Context(), r.pool, messages.SelectTxs{Log: true})).must(t)
	vsize := int64(3*tx.SerializeSizeStripped()+tx.SerializeSize()+3) / 4
	rate := (2e8 + 1000) * 1000 / vsize
	want := fmt.Sprintf("%s%d.%08d BTC/kvB txid %v", line, rate/1e8, rate%1e8, id)
	if !strings.Contains(log.String(), want) {
		t.Errorf("log %s, want %s", log.String(), want)
	}
}
