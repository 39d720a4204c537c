package signing

import (
	"context"
	"errors"

	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil"
	"github.com/btcsuite/btcd/txscript"
	"github.com/btcsuite/btcd/wire"
	"github.com/decred/dcrd/dcrec/secp256k1/v4"

	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/internal/wallet"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/keys"
	"github.com/seed61375155/trawl/messages"
)

// A Filling is a packet with what the wallet knows of its inputs and outputs.
type Filling struct {
	packet     *psbt.Packet
	signing    *rawtx.PacketSigning
	newSigning rawtx.NewSigningFunc
	nonces     *rawtx.MusigNonces
	req        *messages.FillPacket
	hashType   *int32                      // nil: that of its kind
	hasPQC     func(slhdsa.PublicKey) bool // whether the wallet can sign with a key of P2MR; for the actor alone

	inputs, outputs []*rawtx.Signing // nil: nothing is known
	counts          bool             // keys of P2MR may sign, whose signatures are counted before
}

// NewFilling returns what fills a packet as a request says. Nonces are of the wallet; nil: it makes none.
func NewFilling(
	p *psbt.Packet, req *messages.FillPacket, newSigning rawtx.NewSigningFunc, nonces *rawtx.MusigNonces,
) *Filling {
	f := &Filling{packet: p, req: req, newSigning: newSigning, nonces: nonces}
	if t, known := HashType(req.HashType); known && req.HashType != "" {
		f.hashType = new(int32(t))
	}
	return f
}

// Prepare collects what a wallet knows of the packet. Its keys of P2MR may sign.
func (f *Filling) Prepare(w *wallet.Wallet) {
	f.hasPQC = w.Vault().CanSign
	if w.AddSpent(f.packet); w.Keys().Len() > 0 { // as in Core, where else nobody tries
		f.Know(w.Keys())
		return
	}
	f.signing = rawtx.NewPacketSigning(f.packet, f.newSigning)
}

// Counts reports whether keys may sign whose signatures are counted before.
func (f *Filling) Counts() bool { return f.counts }

// Give has the packet signed with reserved keys of P2MR.
func (f *Filling) Give(r *Reserved) {
	for _, known := range f.inputs {
		if known != nil {
			r.Give(known)
		}
	}
}

// Plan counts the signatures that [Filling.Run] will make by each key of P2MR.
func (f *Filling) Plan(ctx context.Context) map[slhdsa.PublicKey]uint32 {
	wanted := make(map[slhdsa.PublicKey]uint32)
	for i, known := range f.inputs {
		if known != nil && ctx.Err() == nil {
			f.signing.PlanP2MR(i, f.role(known), wanted)
		}
	}
	return wanted
}

func (f *Filling) role(known *rawtx.Signing) rawtx.PacketRole {
	return rawtx.PacketRole{Known: known, HashType: f.hashType, Finalize: f.req.Finalize}
}

// Zero wipes the private keys.
func (f *Filling) Zero() {
	for _, known := range f.inputs {
		if known != nil {
			known.Zero()
		}
	}
}

// Know collects what is known of the packet, with private keys.
func (f *Filling) Know(set *keys.Set) {
	if f.signing == nil {
		f.signing = rawtx.NewPacketSigning(f.packet, f.newSigning)
	}
	spenders := set.Spenders()
	defer spenders.Wipe()
	f.inputs = make([]*rawtx.Signing, len(f.packet.Inputs))
	for i := range f.packet.Inputs {
		if coin := f.packet.Coin(i); coin != nil && !f.packet.Final(i) {
			f.inputs[i] = f.input(spenders, i, coin)
		} else if !f.packet.Final(i) && f.packet.Inputs[i].Has(psbt.NonWitnessUTXO) {
			f.inputs[i] = f.empty() // what cannot be is refused
		}
	}
	f.outputs = make([]*rawtx.Signing, len(f.packet.Outputs))
	for i, out := range f.packet.Tx.TxOut {
		if place, own := spenders.Public(out.PkScript); own {
			f.outputs[i] = f.empty()
			_ = f.outputs[i].AddDescriptor(place.Descriptor, place.Index, false) // what is not known is left out
			f.hide(f.outputs[i])
		}
	}
}

func (f *Filling) empty() *rawtx.Signing { return f.newSigning(new(wire.MsgTx), nil) }

// hide forgets derivations that the request does not want in the packet.
func (f *Filling) hide(known *rawtx.Signing) {
	if !f.req.Derivations {
		known.Origins = nil
	}
}

// input collects what is known of an input. An input of another owner, or an input whose private keys are
// not all in one descriptor, may still name public keys of the wallet.
func (f *Filling) input(spenders *keys.Spenders, i int, coin *wire.TxOut) *rawtx.Signing {
	known := f.empty()
	if root, ok := p2mr.ParseOutputScript(coin.PkScript); ok && known.HasP2MR() {
		return f.inputP2MR(known, spenders, i, root)
	}
	if f.req.Sign {
		known.Nonces = f.nonces
	}
	whole := false
	for _, place := range spenders.OfScript(coin.PkScript) {
		_ = known.AddDescriptor(place.Descriptor, place.Index, f.req.Sign)
		whole = whole || place.Descriptor.HasAllPrivateKeys()
	}
	if !whole {
		for _, public := range f.publicKeys(i, coin) {
			f.addKey(known, spenders, public)
		}
	}
	f.hide(known)
	return known
}

// inputP2MR collects what is known of an input that spends a P2MR output; nil if nothing is known. The output
// may have another owner, if the packet has a leaf that names a key of the wallet.
func (f *Filling) inputP2MR(known *rawtx.Signing, spenders *keys.Spenders, i int, root p2mr.Hash) *rawtx.Signing {
	places := spenders.OfScript(p2mr.OutputScript(root))
	for _, place := range places {
		_ = known.AddDescriptor(place.Descriptor, place.Index, false) // its keys are given when they are counted
	}
	able := make(map[slhdsa.PublicKey]bool)
	note := func(script []byte) {
		_, named, _ := p2mr.MatchKeys(script)
		for _, key := range named {
			if f.hasPQC != nil && f.hasPQC(key) {
				able[key] = true
			}
		}
	}
	for _, script := range known.LeafScripts(root) {
		note(script)
	}
	for _, e := range f.packet.Inputs[i].Of(psbt.P2MRLeaf) {
		note(e.Value[:len(e.Value)-1])
	}
	if len(places)+len(able) == 0 {
		return nil
	}
	if f.req.Sign {
		known.MaySign(func(key slhdsa.PublicKey) bool { return able[key] })
		f.counts = f.counts || len(able) > 0
	}
	f.hide(known)
	return known
}

// namedKey is a public key that an input names, and where it is said to come from.
type namedKey struct {
	public []byte
	path   []uint32
}

// publicKeys returns the public keys that an input names.
func (f *Filling) publicKeys(i int, coin *wire.TxOut) []namedKey {
	var named []namedKey
	for _, e := range f.packet.Inputs[i].Of(psbt.Derivation) {
		named = append(named, namedKey{e.Data, psbt.Path(e.Value)})
	}
	addX := func(x []byte, path []uint32) {
		for _, sign := range []byte{secp256k1.PubKeyFormatCompressedEven, secp256k1.PubKeyFormatCompressedOdd} {
			named = append(named, namedKey{append([]byte{sign}, x...), path})
		}
	}
	if txscript.IsPayToTaproot(coin.PkScript) {
		addX(coin.PkScript[2:], nil)
	}
	for _, e := range f.packet.Inputs[i].Of(psbt.TapDerivation) {
		origin := psbt.NewTapOrigin(e.Value)
		addX(e.Data, psbt.Path(origin.Origin))
	}
	return named
}

// addKey adds the knowledge of a descriptor that has the private key of a named public key.
func (f *Filling) addKey(known *rawtx.Signing, spenders *keys.Spenders, named namedKey) {
	places := spenders.OfPath(named.path)
	if key, err := secp256k1.ParsePubKey(named.public); err == nil {
		for _, script := range keyScripts(named.public, key) {
			places = append(places, spenders.OfScript(script)...)
		}
	}
	for _, place := range places {
		found := f.empty()
		if err := found.AddDescriptor(place.Descriptor, place.Index, true); err == nil && found.CanSign(named.public) {
			known.Merge(found, f.req.Sign)
			if !f.req.Sign {
				found.Zero()
			}
			return
		}
		found.Zero()
	}
}

// Run fills the packet.
//
// Errors: [*messages.WalletError], that of the context.
func (f *Filling) Run(ctx context.Context) (messages.FilledPacket, error) {
	for i, known := range f.inputs {
		if ctx.Err() != nil {
			return messages.FilledPacket{}, context.Cause(ctx)
		}
		if known == nil {
			continue
		}
		_, _, err := f.signing.Input(i, f.role(known))
		switch {
		case errors.Is(err, rawtx.ErrHashType):
			return messages.FilledPacket{}, codes.Errorf(codes.Decode, "%v", err)
		case err != nil:
			return messages.FilledPacket{}, codes.Errorf(codes.Transaction, "%v", err)
		}
	}
	for i, known := range f.outputs {
		if known != nil {
			f.signing.Output(i, known)
		}
	}
	f.packet.DropTransactions()
	got := messages.FilledPacket{PSBT: f.packet.Encode(), Complete: true}
	for i := range f.packet.Inputs {
		got.Complete = got.Complete && f.signing.Verified(i)
	}
	if got.Complete {
		got.Tx = f.packet.Extract()
	}
	return got, nil
}

// keyScripts are the output scripts of one public key: of its hash, of that in a witness, the same
// nested, taproot, and of the key itself.
func keyScripts(public []byte, key *secp256k1.PublicKey) [][]byte {
	hash := btcutil.Hash160(public)
	witness := rawtx.WitnessKeyHash(hash)
	byHash := append([]byte{txscript.OP_DUP, txscript.OP_HASH160, 20}, hash...)
	nested := append([]byte{txscript.OP_HASH160, 20}, btcutil.Hash160(witness)...)
	taproot := schnorr.SerializePubKey(txscript.ComputeTaprootKeyNoScript(key))
	return [][]byte{
		append(byHash, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG),
		witness,
		append(nested, txscript.OP_EQUAL),
		append([]byte{txscript.OP_1, 32}, taproot...),
		append(append([]byte{byte(len(public))}, public...), txscript.OP_CHECKSIG),
	}
}
