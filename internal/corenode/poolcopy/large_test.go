package poolcopy_test

import (
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"

	"github.com/seed61375155/trawl/internal/corenode/poolcopy"
)

// A pool of 300,000 transactions takes at most 400 bytes for each beside the
// transaction itself. The times to compare and to list the pool are logged.
func TestLargePool(t *testing.T) {
	n := uint32(10_000)
	if os.Getenv("TRAWL_SOAK") != "" {
		n = 300_000
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	pool := poolcopy.New(poolcopy.Limits{Bytes: 1 << 30, Txs: 1 << 20})
	ids := make([]chainhash.Hash, n)
	for i := range n {
		tx := newTx(t, i+1)
		ids[i] = tx.ID
		pool.Add(tx)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	if each := (int64(after.HeapAlloc) - int64(before.HeapAlloc) - pool.Total().Bytes) / int64(n); each > 400 {
		t.Errorf("%d bytes for each beside the transaction itself", each)
	}
	began := time.Now()
	pool.Begin()
	if missing, gone := pool.Compare(ids[1:]); len(missing) != 0 || len(gone) != 1 {
		t.Errorf("%d missing, %d gone", len(missing), len(gone))
	}
	t.Logf("%d transactions: compared in %v", n, time.Since(began))
	began = time.Now()
	if got := poolcopy.Contents(pool.All()); len(got) != int(n) {
		t.Errorf("%d", len(got))
	}
	t.Logf("told of in %v", time.Since(began))
}
