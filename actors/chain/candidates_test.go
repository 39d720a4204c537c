package chain

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/nodemsg"
)

// kept is a block as the oracle of the next test keeps it.
type kept struct {
	parent byte
	made   int64
	number int
}

// For any order of calls and any clock, the cache keeps the same blocks as a plain table that is searched as a
// whole each time.
func TestCandidates(t *testing.T) {
	t.Parallel()
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		s := candidates{AuxBlocks: nodemsg.AuxBlocks{
			Expiry: time.Duration(r.IntN(3)) * time.Minute, Limit: int64(r.IntN(5)),
		}}
		oracle, number := map[chainhash.Hash]kept{}, 0
		now, tip := time.Unix(1_000_000, 0), byte(1)
		for step := range 400 {
			hash := chainhash.Hash{byte(r.IntN(9))}
			switch r.IntN(6) {
			case 0:
				now = now.Add(time.Duration(r.IntN(90)-10) * time.Second)
			case 1:
				tip = byte(1 + r.IntN(2))
				fallthrough
			case 2:
				s.prune(chainhash.Hash{tip}, now)
				maps.DeleteFunc(oracle, func(_ chainhash.Hash, k kept) bool {
					return k.parent != tip || s.Expiry > 0 && now.Unix()-k.made > int64(s.Expiry.Seconds())
				})
			case 3:
				s.drop(hash)
				delete(oracle, hash)
			default:
				number++
				s.keep(hash, &candidate{parent: chainhash.Hash{tip}}, now)
				oracle[hash] = kept{tip, now.Unix(), number}
				if s.Limit > 0 && int64(len(oracle)) > s.Limit {
					oldest := slices.MinFunc(slices.Collect(maps.Keys(oracle)), func(a, b chainhash.Hash) int {
						return oracle[a].number - oracle[b].number
					})
					delete(oracle, oldest)
				}
			}
			if s.order.Len() != len(oracle) || len(s.byHash) != len(oracle) {
				t.Fatalf("seed %d, step %d: %d kept, want %d", seed, step, s.order.Len(), len(oracle))
			}
			for i := range byte(9) {
				_, want := oracle[chainhash.Hash{i}]
				if got := s.get(chainhash.Hash{i}); (got != nil) != want {
					t.Fatalf("seed %d, step %d: block %d kept: %v, want %v", seed, step, i, got != nil, want)
				}
			}
		}
	}
}

// Candidates of the same transactions share their bytes, and become blocks again byte by byte.
func TestCandidateSharesTransactions(t *testing.T) {
	t.Parallel()
	block := wire.MsgBlock{Header: wire.BlockHeader{Version: 0x2f58c100, Timestamp: time.Unix(5, 0)}}
	for i := range 300 {
		tx := wire.NewMsgTx(2)
		tx.AddTxIn(&wire.TxIn{SignatureScript: fmt.Append(nil, i), Witness: wire.TxWitness{{byte(i)}}})
		block.Transactions = append(block.Transactions, tx)
	}
	first, second := newCandidate(&block.Header, block.Transactions), newCandidate(&block.Header, block.Transactions)
	if !slices.Equal(first.txs, second.txs) || len(first.txs) != 299 {
		t.Errorf("%d transactions, not shared", len(first.txs))
	}
	var want bytes.Buffer
	if err := block.Serialize(&want); err != nil {
		t.Fatal(err)
	}
	payload := []byte("payload")
	got := first.with(payload)
	at := wire.MaxBlockHeaderPayload
	rest := slices.Concat(got[:at], got[at+len(payload):])
	if !bytes.Equal(rest, want.Bytes()) || !bytes.Equal(got[at:at+len(payload)], payload) {
		t.Errorf("another block of %d bytes, want %d", len(got), want.Len())
	}
}
