package rawtxrpc

import (
	"context"
	"errors"
	"slices"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// descriptorsParam declares descriptors with their ranges.
func descriptorsParam(optional bool) command.Param {
	return command.Param{
		Name: "descriptors", Type: command.Array, Optional: optional, Secret: true,
		Help: "what tells how outputs are spent: descriptors, or objects with them",
		Inner: []command.Param{
			{Type: command.String, Optional: true, Help: "an output descriptor"},
			{Type: command.Object, Optional: true, Help: "an output descriptor with a range", Inner: []command.Param{
				{Name: "desc", Type: command.String, Help: "the output descriptor"},
				{
					Name: "range", Type: command.Range, Default: "1000",
					Help: "the last index, or the first and the last",
				},
			}},
		},
	}
}

// addDescriptors adds what descriptors tell. As in Core each knows the private keys of those before it, too, and
// keys in their texts sign even where they are only roots of others.
// The caller wipes those that are added.
func (m *methods) addDescriptors(ctx context.Context, list *jsontree.Value, to *rawtx.Signing, private bool) error {
	return m.addEach(ctx, list, to, private, false)
}

// refuseEarly returns the error of a request that will be refused, before the keys of its descriptors are
// derived. A key of P2MR takes some 100 ms, and a range has a thousand. For each descriptor the first index
// stands for all. Errors come in the same order as without this check.
func (m *methods) refuseEarly(
	ctx context.Context, list *jsontree.Value, private bool, options func() error, packet string,
) error {
	probe := m.newKnown()
	defer probe.Zero()
	if !probe.HasP2MR() {
		return nil
	}
	if err := m.addEach(ctx, list, probe, private, true); err != nil {
		return err
	}
	if err := options(); err != nil {
		return err
	}
	_, err := m.readPacket(packet)
	return err
}

// addEach adds what descriptors tell, of their first index alone or of all.
func (m *methods) addEach(
	ctx context.Context, list *jsontree.Value, to *rawtx.Signing, private, firstOnly bool,
) error {
	var keys []descriptor.PrivateKey
	defer func() { clear(keys) }()
	for _, v := range list.Elements() {
		o, err := arg.NewScanObject(v)
		if err != nil {
			return err
		}
		branches, err := descriptor.Parse(o.Text, m.net, descriptor.Options{PrivateKeys: keys})
		if err != nil {
			return command.Error{Code: command.InvalidAddressOrKey, Message: err.Error()}
		}
		if firstOnly {
			o.Last = o.First
		}
		err = addBranches(ctx, branches, o, to, private)
		if private {
			to.AddRoots(branches[0])
		}
		keys = withKeysOf(keys, branches)
		if err != nil {
			return err
		}
	}
	return nil
}

// withKeysOf adds the private keys of branches, which cannot be used any more then. No copy of the keys is
// left elsewhere.
func withKeysOf(keys []descriptor.PrivateKey, branches []*descriptor.Descriptor) []descriptor.PrivateKey {
	own := branches[0].PrivateKeys()
	all := slices.Concat(keys, own)
	clear(keys)
	clear(own)
	for _, d := range branches {
		d.Wipe()
	}
	return all
}

func addBranches(
	ctx context.Context, branches []*descriptor.Descriptor, o arg.ScanObject, to *rawtx.Signing, private bool,
) error {
	if !branches[0].IsRanged() {
		o.First, o.Last = 0, 0
	}
	branches = slices.Clone(branches)
	for i, d := range branches {
		if !d.HasP2MRSource() {
			continue
		}
		var err error
		if branches[i], err = withP2MRKeys(ctx, d, o, to, private && to.HasP2MR()); err != nil {
			return err
		}
	}
	for index := o.First; index <= o.Last; index++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		for _, d := range branches {
			if err := to.AddDescriptor(d, index, private); err != nil { //nolint:contextcheck // one index
				return command.Errorf(command.InvalidAddressOrKey,
					"Cannot derive script without private keys: '%s'", o.Text)
			}
		}
	}
	return nil
}

// withP2MRKeys makes the P2MR keys of a range of a descriptor, on all cores, and returns the descriptor with
// these keys. With private it adds the private keys to the signing data.
func withP2MRKeys(
	ctx context.Context, d *descriptor.Descriptor, o arg.ScanObject, to *rawtx.Signing, private bool,
) (*descriptor.Descriptor, error) {
	keys, err := d.P2MRKeys(ctx, o.First, o.Last)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return d, nil //nolint:nilerr // told when its scripts are made
	}
	for _, k := range keys {
		if private {
			if key, err := slhdsa.ParsePrivateKey(k.Secret); err == nil {
				to.AddPQCKey(key)
			}
		}
		clear(k.Secret)
	}
	return d.WithCache(descriptor.CacheOf(keys)), nil
}

// addSpent puts into a packet what its inputs spend, as far as it is found: transactions of the index and of
// the pool, else unspent outputs that are spent by a witness.
func (m *methods) addSpent(ctx context.Context, p *psbt.Packet, known *rawtx.Signing) error {
	for i, in := range p.Tx.TxIn {
		if p.Inputs[i].Has(psbt.NonWitnessUTXO) {
			continue
		}
		tx, err := m.transaction(ctx, &in.PreviousOutPoint)
		if err != nil {
			return err
		}
		if tx != nil {
			p.Inputs[i].Put(psbt.NonWitnessUTXO, nil, psbt.Serialize(tx, true))
			continue
		}
		if m.Unspent == nil {
			continue
		}
		coin, err := m.Unspent(ctx, &in.PreviousOutPoint)
		if err != nil {
			return err
		}
		if coin != nil && known.SpendsWitness(coin) {
			p.Inputs[i].PutOutput(psbt.WitnessUTXO, coin)
		}
	}
	return nil
}

// transaction returns the transaction of an output, of the index or the pool, nil where none has it.
func (m *methods) transaction(ctx context.Context, at *wire.OutPoint) (*wire.MsgTx, error) {
	if tx, err := m.indexed(ctx, at); err != nil || tx != nil {
		return tx, err
	}
	found, err := ask.Ask(ctx, m.Pool, messages.GetPoolTx{ID: at.Hash})
	switch {
	case errors.Is(err, messages.ErrNotInPool):
		return nil, nil //nolint:nilnil // not found
	case err != nil:
		return nil, err
	}
	return found.Tx, nil
}

// indexed returns a transaction of the index, nil where it has none.
func (m *methods) indexed(ctx context.Context, at *wire.OutPoint) (*wire.MsgTx, error) {
	if m.Txs == nil {
		return nil, nil //nolint:nilnil // not found
	}
	hash, place, _, err := m.Txs.Find(ctx, &at.Hash)
	if err != nil || place.Index < 0 {
		return nil, err
	}
	reader := m.Chain.Open()
	if reader == nil {
		return nil, chainview.ErrNotReady
	}
	tx, _, err := chainview.Tx(reader, &hash, &at.Hash, place)
	if errors.Is(err, chainview.ErrClosed) {
		return nil, err
	}
	if err != nil {
		return nil, nil //nolint:nilnil,nilerr // it cannot be read, as if it was not there
	}
	return tx, nil
}

// processing is how a packet is updated and signed.
type processing struct {
	known    *rawtx.Signing
	hashType *int32
	finalize bool
	sign     bool // with the private keys that are known
}

// process puts into a packet what is known of its inputs and outputs, and signs it where private keys are.
func (m *methods) process(ctx context.Context, text string, how processing) (*psbt.Packet, error) {
	p, err := m.readPacket(text)
	if err != nil {
		return nil, err
	}
	if p.NoTx {
		return nil, command.Error{Code: command.VerifyError, Message: rawtx.ErrNoTx.Error()}
	}
	if err := m.addSpent(ctx, p, how.known); err != nil {
		return nil, err
	}
	s := rawtx.NewPacketSigning(p, m.Network.NewSigning)
	role := rawtx.PacketRole{Known: how.known, HashType: how.hashType, Finalize: how.finalize}
	if how.sign {
		if err := reserve(ctx, p, s, role); err != nil {
			return nil, err
		}
	}
	for i := range p.Inputs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if p.Final(i) {
			continue
		}
		switch _, _, err := s.Input(i, role); {
		case errors.Is(err, rawtx.ErrHashType):
			return nil, command.Error{Code: command.DeserializationError, Message: err.Error()}
		case errors.Is(err, rawtx.ErrSignature):
			return nil, command.Error{Code: command.VerifyError, Message: err.Error()}
		}
	}
	for i := range p.Outputs {
		s.Output(i, how.known)
	}
	p.DropTransactions()
	return p, nil
}

// reserve allows the keys of P2MR the signatures that they are going to make. Keys that come with a request
// bring no count of those that they have made.
func reserve(ctx context.Context, p *psbt.Packet, s *rawtx.PacketSigning, role rawtx.PacketRole) error {
	wanted := make(map[slhdsa.PublicKey]uint32)
	for i := range p.Inputs {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if !p.Final(i) {
			s.PlanP2MR(i, role, wanted)
		}
	}
	var uses []slhdsa.Use
	for public, more := range wanted {
		uses = append(uses, slhdsa.Use{Key: public, More: more})
	}
	reserved, err := slhdsa.Reserve(uses, func([]slhdsa.Use) error { return nil })
	role.Known.Reserved(reserved)
	return err
}

// newKnown returns what is to be filled with what descriptors tell.
func (m *methods) newKnown() *rawtx.Signing {
	return m.Network.NewSigning(new(wire.MsgTx), nil)
}
