package mempoolrpc

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/chaincfg/chainhash"
	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func getTxSpendingPrevOut(d *Deps) command.Command {
	return command.Command{
		Name:     "gettxspendingprevout",
		Category: command.Blockchain,
		About:    command.State, Effect: command.Reads,
		Summary: "Finds the transactions that spend outputs: those of the memory pool, and with -txospenderindex " +
			"those of the chain.",
		Params: []command.Param{
			{Name: "outputs", Type: command.Array, Help: "the outputs", Inner: []command.Param{
				{Name: "output", Type: command.Object, Optional: true, Inner: []command.Param{
					{Name: "txid", Type: command.Hex, Help: "id of a transaction"},
					{Name: "vout", Type: command.Number, Help: "number of its output"},
				}},
			}},
			{
				Name: "options", Type: command.NamedOptions, Optional: true, Since: 31,
				Help: "what is looked for and told",
				Inner: []command.Param{
					{
						Name: "mempool_only", Type: command.Bool, Since: 31,
						Default: "true without the index, otherwise false",
						Help: "false: what the memory pool does not spend is looked up in the index, and is an error " +
							"without one",
					},
					{
						Name: "return_spending_tx", Type: command.Bool, Default: "false", Since: 31,
						Help: "tell the whole transactions",
					},
				},
			},
		},
		Results: []command.Result{{Type: command.Array, Inner: []command.Result{{
			Type: command.Object,
			Inner: []command.Result{
				{Type: command.Hex, Key: "txid", Help: "as given"},
				{Type: command.Number, Key: "vout", Help: "as given"},
				{Type: command.Hex, Key: "spendingtxid", Optional: true, Help: "id of the transaction that spends it"},
				{Type: command.Hex, Key: "spendingtx", Optional: true, Help: "that transaction, if asked for"},
				{Type: command.Hex, Key: "blockhash", Optional: true, Help: "hash of the block that it is in"},
			},
		}}}},
		Examples: []string{
			`[[{"txid": "a08e6907dbbd3d809776dbfc5d82e371b764ed838b5655e72f463568df1aadf0", "vout": 3}]]`,
			`[[{"txid": "a08e6907dbbd3d809776dbfc5d82e371b764ed838b5655e72f463568df1aadf0", "vout": 3}], ` +
				`{"return_spending_tx": true}]`,
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) { return d.spending(ctx, a) },
	}
}

// spendersQuery are the arguments of gettxspendingprevout.
type spendersQuery struct {
	given []*jsontree.Value // the outputs
	outs  []wire.OutPoint   // the same

	asGiven  bool // outputs are shown as they were given
	poolOnly bool
	withTx   bool
}

func (d *Deps) readSpendersQuery(a *command.Args) (*spendersQuery, error) {
	list, err := a.Array(0)
	if err != nil {
		return nil, err
	}
	if list.Len() == 0 {
		return nil, command.Error{Code: command.InvalidParameter, Message: "Invalid parameter, outputs are missing"}
	}
	q := &spendersQuery{asGiven: d.Spenders != nil, poolOnly: d.Spenders == nil}
	if err := q.readOptions(a.Value(1)); err != nil {
		return nil, err
	}
	for _, v := range list.Elements() {
		at, err := readOutPoint(v)
		if err != nil {
			return nil, err
		}
		q.given, q.outs = append(q.given, v), append(q.outs, at)
	}
	return q, nil
}

func (q *spendersQuery) readOptions(o *jsontree.Value) (err error) {
	if o.IsNull() {
		return nil
	}
	q.asGiven = true
	err = checkFields(o, true, field{"mempool_only", jsontree.Bool}, field{"return_spending_tx", jsontree.Bool})
	if err != nil {
		return err
	}
	if v := o.Get("mempool_only"); v != nil {
		if q.poolOnly, err = v.AsBool(); err != nil {
			return err
		}
	}
	if v := o.Get("return_spending_tx"); v != nil {
		q.withTx, err = v.AsBool()
	}
	return err
}

func (d *Deps) spending(ctx context.Context, a *command.Args) (any, error) {
	q, err := d.readSpendersQuery(a)
	if err != nil {
		return nil, err
	}
	for {
		spenders, err := ask.Ask(ctx, d.Pool, messages.GetPoolSpenders{Outs: q.outs})
		if err != nil {
			return nil, err
		}
		shown, rest, err := d.showSpenders(ctx, q, spenders)
		if errors.Is(err, messages.ErrNotInPool) { // a spender has left meanwhile
			continue
		}
		for i := 0; i < len(rest) && err == nil; i++ {
			shown, err = d.appendConfirmed(ctx, q, shown, rest[i])
		}
		return shown, err
	}
}

// showSpenders is the result for the spenders of outputs in the pool, nil for those that it
// does not spend. The numbers of those that are to be looked up elsewhere are rest.
//
// Errors: [messages.ErrNotInPool], of a spender that the pool does not have.
func (d *Deps) showSpenders(
	ctx context.Context, q *spendersQuery, spenders []*chainhash.Hash,
) (shown []jsontree.Members, rest []int, err error) {
	shown = make([]jsontree.Members, 0, len(spenders))
	for i, by := range spenders {
		if by == nil && !q.poolOnly {
			rest = append(rest, i)
			continue
		}
		object := q.output(i)
		if by != nil {
			object = append(object, jsontree.Member{Key: "spendingtxid", Value: by})
		}
		if by != nil && q.withTx {
			tx, err := ask.Ask(ctx, d.Pool, messages.GetPoolTx{ID: *by})
			if err != nil {
				return nil, nil, err
			}
			object = append(object, spendingTx(tx.Tx))
		}
		shown = append(shown, object)
	}
	return shown, rest, nil
}

// output begins the object of an output.
func (q *spendersQuery) output(i int) (object jsontree.Members) {
	if !q.asGiven {
		return jsontree.Members{{Key: "txid", Value: q.outs[i].Hash}, {Key: "vout", Value: q.outs[i].Index}}
	}
	for key, member := range q.given[i].Members() {
		object = append(object, jsontree.Member{Key: key, Value: member})
	}
	return object
}

func spendingTx(tx *wire.MsgTx) jsontree.Member {
	raw := bytes.NewBuffer(make([]byte, 0, tx.SerializeSize()))
	_ = tx.Serialize(raw) // a buffer takes everything
	return jsontree.Member{Key: "spendingtx", Value: jsontree.Hex(raw.Bytes())}
}

// appendConfirmed appends the object of an output that the pool does not spend.
func (d *Deps) appendConfirmed(
	ctx context.Context, q *spendersQuery, shown []jsontree.Members, i int,
) ([]jsontree.Members, error) {
	by, err := d.confirmed(ctx, &q.outs[i])
	if err != nil {
		return nil, err
	}
	object := q.output(i)
	if by != nil {
		object = append(object, jsontree.Member{Key: "spendingtxid", Value: by.Tx.TxHash()})
		if q.withTx {
			object = append(object, spendingTx(by.Tx))
		}
		object = append(object, jsontree.Member{Key: "blockhash", Value: by.Block})
	}
	return append(shown, object), nil
}

// confirmed returns what spends an output in the chain, nil: nothing does.
func (d *Deps) confirmed(ctx context.Context, out *wire.OutPoint) (*chainview.Spender, error) {
	const unavailable = "Mempool lacks a relevant spend, and txospenderindex is unavailable."
	if d.Spenders == nil {
		return nil, command.Error{Code: command.MiscError, Message: unavailable}
	}
	by, synced, err := d.Spenders.Find(ctx, out)
	for _, lost := range []error{
		chainview.ErrNotFound, chainview.ErrPruned, chainview.ErrUnreadable, chainview.ErrNotYet,
	} {
		if errors.Is(err, lost) {
			return nil, command.Errorf(
				command.MiscError, "IO error finding spending tx for outpoint %v:%d.", out.Hash, out.Index,
			)
		}
	}
	if err == nil && !synced {
		err = command.Error{Code: command.MiscError, Message: unavailable}
	}
	return by, err
}

// A field is a member of an object with its type.
type field struct {
	key  string
	kind jsontree.Kind
}

// checkFields checks that an object has the fields with their types, and no others. The flag mayMiss says that
// they may be null or absent.
func checkFields(object *jsontree.Value, mayMiss bool, fields ...field) error {
	for _, want := range fields {
		member := object.Get(want.key)
		switch got := member.Kind(); {
		case member == nil && !mayMiss:
			return command.Errorf(command.TypeError, "Missing %s", want.key)
		case got == want.kind, got == jsontree.Null && mayMiss:
		default:
			return command.Errorf(command.TypeError,
				"JSON value of type %v for field %s is not of expected type %v", got, want.key, want.kind)
		}
	}
	for key := range object.Members() {
		if !slices.ContainsFunc(fields, func(f field) bool { return f.key == key }) {
			return command.Errorf(command.TypeError, "Unexpected key %s", key)
		}
	}
	return nil
}

// readOutPoint reads an object with exactly a txid and a vout.
func readOutPoint(v *jsontree.Value) (wire.OutPoint, error) {
	if _, err := v.AsObject(); err != nil {
		return wire.OutPoint{}, err
	}
	if err := checkFields(v, false, field{"txid", jsontree.String}, field{"vout", jsontree.Number}); err != nil {
		return wire.OutPoint{}, err
	}
	id, err := arg.Hash(v.Get("txid"), "txid")
	if err != nil {
		return wire.OutPoint{}, err
	}
	n, err := v.Get("vout").AsInt32()
	if err != nil {
		return wire.OutPoint{}, err
	}
	if n < 0 {
		return wire.OutPoint{}, command.Error{
			Code: command.InvalidParameter, Message: "Invalid parameter, vout cannot be negative",
		}
	}
	return wire.OutPoint{Hash: id, Index: uint32(n)}, nil
}
