package miningrpc_test

import (
	"bytes"
	"encoding/hex"
	"math/big"
	"testing"
	"time"

	"github.com/asynkron/protoactor-go/actor"
	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/actortest"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/consensus"
	"github.com/seed61375155/trawl/internal/dialect"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/miningrpc"
)

const (
	key     = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
	address = "bcrt1qw508d6qejxtdg4y5r3zarvary0c5xw7kygt080"
	script  = "0014751e76e8199196d454941c45d1b3a323f1433bd6"
)

// A rig is the methods with a probe in the place of the chain actor.
type rig struct {
	t     *testing.T
	table *command.Table
	chain *actortest.Probe
	pool  func() messages.PoolInfo
	best  messages.BlockTxs // of the pool, for the next block
}

// The times of the chain's blocks are given in seconds after the first one.
func newRig(t *testing.T, chain string, times ...int) *rig {
	t.Helper()
	network, err := dialect.Bitcoin(chain)
	if err != nil {
		t.Fatal(err)
	}
	return newRigOn(t, network, times...)
}

// newRigOn is newRig for any network.
func newRigOn(t *testing.T, network *dialect.Network, times ...int) *rig {
	t.Helper()
	if times == nil {
		times = []int{600, 1200, 900}
	}
	sys := actortest.New(t)
	r := &rig{
		t: t, chain: sys.Probe("chain"), pool: func() messages.PoolInfo { return messages.PoolInfo{Loaded: true} },
	}
	var err error
	r.table, err = command.NewTable(miningrpc.Commands(miningrpc.Deps{
		Network: network,
		Chain:   chainOf(t, network, times...),
		Actor:   r.chain.Ref,
		Pool:    sys.Spawn("mempool", func() actor.Actor { return actor.ReceiveFunc(r.poolActor) }),
		Now:     func() time.Time { return network.Params.GenesisBlock.Header.Timestamp.Add(time.Hour) },
		Blocks:  miningrpc.Blocks{MinTxFee: 1},
	}))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// poolActor plays a pool of unconfirmed transactions that are not found by their hash.
func (r *rig) poolActor(c actor.Context) {
	switch m := c.Message().(type) {
	case *ask.Call[messages.GetPoolInfo, messages.PoolInfo]:
		m.Answer(r.pool(), nil)
	case *ask.Call[messages.SelectTxs, messages.BlockTxs]:
		m.Answer(r.best, nil)
	case *ask.Call[messages.GetPoolTx, messages.PoolTx]:
		m.Answer(messages.PoolTx{}, messages.ErrNotInPool)
	default:
		ask.Unhandled(c)
	}
}

// reader is a chain of which there are only headers.
type reader struct {
	chainview.Reader
	tree *chainview.Tree
}

func (r reader) Active() *chainview.Chain { return r.tree.Active() }

func (r reader) Lookup(hash *chainhash.Hash) *chainview.Block { return r.tree.Lookup(hash) }

// chainOf returns a chain whose blocks after the first were made the given
// numbers of seconds after it.
func chainOf(t *testing.T, network *dialect.Network, times ...int) *chainview.Current {
	t.Helper()
	header := network.Params.GenesisBlock.Header
	began := header.Timestamp
	work := consensus.TargetWork(header.Bits)
	tree := chainview.NewTree(&header, work)
	for i, seconds := range times {
		header.PrevBlock = header.BlockHash()
		if m := network.MergedMining; m != nil {
			header.Version = 0x20000000
			if i%3 == 1 { // of each three blocks the middle one
				header.Version = m.Version(header.Version)
			}
		}
		header.Timestamp = began.Add(time.Duration(seconds) * time.Second)
		b, err := tree.Add(&header, new(big.Int).Set(work), chainview.HasData|chainview.Valid)
		if err != nil {
			t.Fatal(err)
		}
		tree.SetActive(b)
	}
	var current chainview.Current
	current.Set(reader{tree: tree})
	return &current
}

// run calls a method.
func (r *rig) run(method, params string) (any, error) {
	r.t.Helper()
	given, err := jsontree.Parse([]byte(params))
	if err != nil {
		r.t.Fatal(err)
	}
	call, err := r.table.Prepare(command.Caller{}, method, given)
	if err != nil {
		return nil, err
	}
	return call.Run(r.t.Context())
}

// call calls a method and returns the text of its result or of its error.
func (r *rig) call(method, params string) string {
	r.t.Helper()
	result, err := r.run(method, params)
	if err != nil {
		e, known := r.table.Reveal(err)
		if !known {
			r.t.Errorf("nobody wrote words for: %v", err)
		}
		result = e
	}
	text, err := jsontree.Append(nil, result)
	if err != nil {
		r.t.Fatal(err)
	}
	return string(text)
}

// serve lets the probe answer one request, and returns the request once it has
// been made.
func serve[Q messages.Request[R], R any](r *rig, answer R, err error) <-chan Q {
	request := make(chan Q, 1)
	go func() {
		call := actortest.Expect[*ask.Call[Q, R]](r.chain)
		request <- call.Req
		call.Answer(answer, err)
	}()
	return request
}

func hexOf(t *testing.T, write func(*bytes.Buffer) error) string {
	t.Helper()
	var raw bytes.Buffer
	if err := write(&raw); err != nil {
		t.Fatal(err)
	}
	return hex.EncodeToString(raw.Bytes())
}

func genesis(t *testing.T) string {
	t.Helper()
	network, err := dialect.Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	return hexOf(t, func(b *bytes.Buffer) error { return network.Params.GenesisBlock.Serialize(b) })
}

func spendingTx(t *testing.T) string {
	t.Helper()
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{})
	return hexOf(t, func(b *bytes.Buffer) error { return tx.Serialize(b) })
}

func TestDocumented(t *testing.T) {
	if err := newRig(t, "regtest").table.Check(); err != nil {
		t.Error(err)
	}
}
