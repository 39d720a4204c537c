package wallets

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"slices"

	"github.com/asynkron/protoactor-go/actor"

	"github.com/seed61375155/trawl/actors/wallets/device"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

var (
	errNoSigner     = codes.Errorf(codes.Transaction, "External signer not found")
	errSignerFailed = codes.Errorf(codes.Transaction, "External signer failed to sign")
)

// deviceError gives what a device says the code that Core gives it.
func deviceError(err error) error {
	if err == nil || isAnswer(err) || errors.Is(err, context.Canceled) {
		return err
	}
	return codes.Errorf(codes.Misc, "%v", err)
}

// outside reports whether the keys of the wallet are on a device.
func (g *signer) outside() bool { return g.of.open().Flags().Has(walletfile.ExternalSigner) }

// display has the device show an address, and compares what it shows.
func (g *signer) display(c actor.Context, m *ask.Call[messages.DisplayAddress, messages.Done]) {
	w := g.of.open()
	solution := w.Keys().Solve(m.Req.Script)
	if solution == nil || !g.outside() {
		m.Answer(messages.Done{}, codes.Errorf(codes.Misc, "There is no ScriptPubKeyManager for this address"))
		return
	}
	own, _ := descriptor.AddressOf(m.Req.Script, g.net)
	g.of.beside(c, func() func() {
		err := g.displayed(solution.Text, own)
		return func() { m.Answer(messages.Done{}, deviceError(err)) }
	})
}

func (g *signer) displayed(text, own string) error {
	d, err := g.cfg.Signer.Find(g.ctx)
	if err != nil {
		return err
	}
	shown, err := d.Display(g.ctx, text)
	if err == nil && shown != own {
		err = codes.Errorf(codes.Misc, "Signer echoed unexpected address %s", shown)
	}
	return err
}

// signedOutside is what became of a transaction that a device was to sign.
type signedOutside struct {
	packet   *psbt.Packet
	complete bool
}

// signOutside describes a packet, has the device sign it, and calls back. The callback
// gets the packet that the device answers. Its transaction may differ but has to make
// the same payment, see [samePayment].
func (g *signer) signOutside(
	c actor.Context, p *psbt.Packet, finalize bool, then func(signedOutside, error),
) {
	g.of.open().AddSpent(p)
	f := &filling{
		packet: p, signing: rawtx.NewPacketSigning(p, g.cfg.Network.NewSigning),
		req: &messages.FillPacket{Derivations: true}, newSigning: g.cfg.Network.NewSigning,
	}
	f.know(g.of.open().Keys())
	g.of.beside(c, func() func() {
		defer f.zero()
		var got signedOutside
		_, err := f.run(g.ctx)
		fee := feeOf(p)
		if err == nil {
			got, err = g.askDevice(p, finalize)
		}
		if err != nil && !isAnswer(err) && !errors.Is(err, context.Canceled) {
			g.cfg.Log.Warn("signing device", "wallet", g.label(), "err", err)
		}
		return func() {
			if err == nil && !samePayment(p.Tx, got.packet.Tx, fee, g.of.open().Keys().IsMine) {
				g.cfg.Log.Warn("Failed to sign: Signer answered another transaction", "wallet", g.label())
				got, err = signedOutside{}, errSignerFailed
			}
			then(got, deviceError(err))
		}
	})
}

// askDevice runs in a worker.
func (g *signer) askDevice(p *psbt.Packet, finalize bool) (signedOutside, error) {
	if got := g.complete(p, finalize); got.complete {
		return got, nil // it needs nothing more
	}
	d, err := g.cfg.Signer.Find(g.ctx)
	var none device.NotFoundError
	switch {
	case errors.As(err, &none):
		g.cfg.Log.Warn("signing device", "wallet", g.label(), "err", err)
		return signedOutside{}, errNoSigner
	case err != nil:
		return signedOutside{}, err
	}
	if !concerns(p, d.Fingerprint) {
		g.cfg.Log.Warn("Failed to sign: Signer fingerprint does not match any of the inputs", "wallet", g.label())
		return signedOutside{}, errSignerFailed
	}
	text, err := d.Sign(g.ctx, p.Encode())
	var refused device.RefusalError
	switch {
	case errors.As(err, &refused):
		g.cfg.Log.Warn("Failed to sign", "wallet", g.label(), "err", err)
		return signedOutside{}, errSignerFailed
	case err != nil:
		return signedOutside{}, err
	}
	signed, err := g.cfg.Network.DecodePSBT(text)
	if err != nil {
		g.cfg.Log.Warn("Failed to sign: TX decode failed", "wallet", g.label(), "err", err)
		return signedOutside{}, errSignerFailed
	}
	return g.complete(signed, finalize), nil
}

// complete finds out whether the signatures of a packet are all that is wanted.
func (g *signer) complete(p *psbt.Packet, finalize bool) signedOutside {
	s := rawtx.NewPacketSigning(p, g.cfg.Network.NewSigning)
	if finalize {
		s.Finalize()
	}
	got := signedOutside{packet: p, complete: true}
	for i := range p.Inputs {
		got.complete = got.complete && s.Verified(i)
	}
	return got
}

// concerns reports whether an input has a key of the device.
func concerns(p *psbt.Packet, fingerprint string) bool {
	wanted, err := hex.DecodeString(fingerprint)
	if err != nil {
		return false
	}
	for i := range p.Inputs {
		for _, kind := range []uint64{psbt.Derivation, psbt.TapDerivation} {
			for _, e := range p.Inputs[i].Of(kind) {
				if origin, ok := originOf(kind, e.Value); ok && slices.Equal(origin[:min(4, len(origin))], wanted) {
					return true
				}
			}
		}
	}
	return false
}

// originOf is the part of a derivation that begins with the fingerprint of the master
// key. In a derivation of taproot the hashes of the leaves come first.
func originOf(kind uint64, value []byte) ([]byte, bool) {
	if kind == psbt.Derivation {
		return value, len(value) >= 4
	}
	const hashSize = 32
	if len(value) == 0 {
		return nil, false
	}
	leaves, head := uint64(value[0]), 1
	if value[0] == 0xfd && len(value) >= 3 {
		leaves, head = uint64(binary.LittleEndian.Uint16(value[1:])), 3
	}
	at := head + int(leaves)*hashSize
	if at+4 > len(value) {
		return nil, false
	}
	return value[at:], true
}

// fillOutside puts what the wallet knows into a packet, and has the device sign it.
func (g *signer) fillOutside(c actor.Context, req *messages.FillPacket, p *psbt.Packet, then filled) {
	g.signOutside(c, p, req.Finalize, func(got signedOutside, err error) {
		if err != nil {
			then(messages.FilledPacket{}, err)
			return
		}
		result := messages.FilledPacket{PSBT: got.packet.Encode(), Complete: got.complete}
		if got.complete {
			result.Tx = got.packet.Extract()
		}
		then(result, nil)
	})
}

// runOutside has the device sign a transaction that the wallet pays with, and calls back.
func (g *signer) runOutside(c actor.Context, req *messages.SignWithWallet, then func(messages.Signed, error)) {
	tx, ok := rawtx.Decode(req.RawTx, rawtx.WitnessForm)
	if !ok {
		then(messages.Signed{}, codes.Errorf(codes.Decode, "TX decode failed"))
		return
	}
	p := psbt.New(tx, g.cfg.Network.PSBTVersions[0])
	g.signOutside(c, p, true, func(got signedOutside, err error) {
		if err != nil {
			then(messages.Signed{}, err)
			return
		}
		then(messages.Signed{RawTx: psbt.Serialize(got.packet.Extract(), true), Complete: got.complete}, nil)
	})
}
