package miningrpc

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// templateAge is for how long a template is given out, in seconds, although the
// pool has changed.
const templateAge = 5

// A template is a valid block but for its proof of work.
type template struct {
	tip     *chainview.Block // that it follows
	block   *wire.MsgBlock
	txs     []messages.BlockTx // without the coinbase
	updates uint32             // of the pool it was made from
	made    int64              // when, in seconds since 1970
}

// templates makes block templates. It keeps the last one, since making and checking
// one takes long.
type templates struct {
	deps *Deps
	turn chan struct{} // holds one token while last is in use
	last *template     // nil: there is none
}

func newTemplates(d *Deps) *templates { return &templates{deps: d, turn: make(chan struct{}, 1)} }

func (t *templates) get(ctx context.Context, request *templateRequest) (any, error) {
	d := t.deps
	if err := d.mayMine(ctx); err != nil {
		return nil, err
	}
	if !request.longPoll.IsNull() {
		if err := t.wait(ctx, request.longPoll); err != nil {
			return nil, err
		}
	}
	if d.Network.SignetChallenge != nil && !request.rules["signet"] {
		return nil, errMissingRule("signet", `"segwit", "signet"`)
	}
	if !request.rules["segwit"] {
		return nil, errMissingRule("segwit", `"segwit"`)
	}
	last, err := t.fresh(ctx)
	if err != nil {
		return nil, err
	}
	return d.templateReply(last)
}

func errMissingRule(rule, call string) error {
	return command.Errorf(command.InvalidParameter,
		"getblocktemplate must be called with the %s rule set (call with {\"rules\": [%s]})", rule, call)
}

// mayMine refuses to make blocks for a network of value that the node does not keep
// up with.
func (d *Deps) mayMine(ctx context.Context) error {
	if d.Network.ForTests {
		return nil
	}
	if d.Peers.IsAbsent() {
		return command.Error{
			Code: command.P2PDisabled, Message: "Error: Peer-to-peer functionality missing or disabled",
		}
	}
	n, err := ask.Ask(ctx, d.Peers, messages.CountPeers{})
	if err != nil {
		return err
	}
	if n.In+n.Out == 0 {
		return command.Errorf(command.ClientNotConnected, "%s is not connected!", d.Network.Software.Name)
	}
	active, err := d.active()
	if err != nil {
		return err
	}
	if d.Initial.Lasts(active.Tip()) {
		return command.Errorf(
			command.ClientInInitialSync, "%s is in initial sync and waiting for blocks...", d.Network.Software.Name,
		)
	}
	return nil
}

// fresh returns the template for the tip, which is made anew when the pool has
// changed and the last one is old.
func (t *templates) fresh(ctx context.Context) (*template, error) {
	select {
	case t.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	defer func() { <-t.turn }()
	current, err := t.current(ctx)
	if err != nil || current {
		return t.last, err
	}
	t.last = nil
	if t.last, err = t.deps.makeTemplate(ctx); err != nil {
		return nil, err
	}
	return t.last, nil
}

// current reports whether the last template may be given out once more.
func (t *templates) current(ctx context.Context) (bool, error) {
	active, err := t.deps.active()
	if err != nil || t.last == nil || t.last.tip.Hash != active.Tip().Hash {
		return false, err
	}
	pool, err := ask.Ask(ctx, t.deps.Pool, messages.GetPoolInfo{})
	if err != nil {
		return false, err
	}
	return pool.Updates == t.last.updates || t.deps.Now().Unix()-t.last.made <= templateAge, nil
}

// payee returns the script that the coinbase of a template pays to; users of the template put
// another script in its place. Where only some forms are allowed, the script is unspendable.
func (d *Deps) payee() []byte {
	anyone := []byte{txscript.OP_TRUE}
	if may := d.Network.Rules.MayPayTo; may != nil && !may(anyone, 0) {
		return []byte{txscript.OP_RETURN}
	}
	return anyone
}

// makeTemplate puts the best block together.
func (d *Deps) makeTemplate(ctx context.Context) (*template, error) {
	for {
		made := d.Now().Unix()
		best, err := ask.Ask(ctx, d.Pool, d.selection())
		if err != nil {
			return nil, err
		}
		order := messages.MakeTemplate{
			Script: d.payee(), Fees: best.Fees, On: best.Tip.Hash, Txs: allSerialized(best.Txs),
		}
		raw, err := ask.Ask(ctx, d.Actor, order)
		if errors.Is(err, messages.ErrTipMoved) {
			continue
		}
		if reject, ok := errors.AsType[*messages.RejectError](err); ok {
			return nil, invalidTemplate(reject)
		}
		if err != nil {
			return nil, err
		}
		block, _, err := d.Network.ReadBlock(raw)
		if err != nil {
			return nil, err
		}
		return &template{
			tip: d.Chain.Open().Lookup(&best.Tip.Hash), block: block, txs: best.Txs, updates: best.Updates, made: made,
		}, nil
	}
}

// minTime returns the earliest time of a block on tip, in seconds since 1970.
func (d *Deps) minTime(tip *chainview.Block) int64 {
	return d.Network.MinTime(tip)
}

// updated returns the header of a template for now.
func (d *Deps) updated(t *template) wire.BlockHeader {
	header := t.block.Header
	now := time.Unix(max(d.minTime(t.tip), d.Now().Unix()), 0)
	if now.After(header.Timestamp) {
		header.Timestamp = now
	}
	if d.Network.Params.ReduceMinDifficulty {
		header.Bits = d.bitsAt(t.tip, header.Timestamp)
	}
	return header
}

// commitment returns the script by which a template commits to the witnesses, nil
// where it does not.
func commitment(coinbase *wire.MsgTx) []byte {
	for _, out := range slices.Backward(coinbase.TxOut) {
		if bytes.HasPrefix(out.PkScript, witnessMagic) {
			return out.PkScript
		}
	}
	return nil
}

// witnessMagic begins the output that commits to the witnesses of a block (BIP141).
var witnessMagic = []byte{txscript.OP_RETURN, txscript.OP_DATA_36, 0xaa, 0x21, 0xa9, 0xed}

// invalidTemplate answers for a block made here that breaks a rule, as where the clock is set
// behind the chain.
func invalidTemplate(reject *messages.RejectError) error {
	return command.Errorf(command.MiscError, "TestBlockValidity failed: %v", reject)
}
