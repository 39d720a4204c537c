package wallets

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/actors/wallets/device"
	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/internal/wallet/codes"
	"github.com/seed61375155/trawl/internal/wallet/signing"
	"github.com/seed61375155/trawl/internal/walletfile"
	"github.com/seed61375155/trawl/messages"
)

var (
	errNoSigner     = codes.Errorf(codes.Transaction, "External signer not found")
	errSignerFailed = codes.Errorf(codes.Transaction, "External signer failed to sign")
)

// display has the device show an address, and compares what it shows.
func (t *caller) display(j *ask.Job, q messages.DisplayAddress) (messages.Done, error) {
	var text string
	err := t.try(j, func() error {
		solution := t.ledger.Keys().Solve(q.Script)
		if solution == nil || !t.ledger.Flags().Has(walletfile.ExternalSigner) {
			return codes.Errorf(codes.Misc, "There is no ScriptPubKeyManager for this address")
		}
		text = solution.Text
		return nil
	})
	if err == nil {
		own, _ := descriptor.AddressOf(q.Script, t.cfg.Network.Descriptors())
		err = codes.DeviceError(t.displayed(j.Context(), text, own))
	}
	return messages.Done{}, err
}

func (t *caller) displayed(ctx context.Context, text, own string) error {
	d, err := t.cfg.Signer.Find(ctx)
	if err != nil {
		return err
	}
	shown, err := d.Display(ctx, text)
	if err == nil && shown != own {
		err = codes.Errorf(codes.Misc, "Signer echoed unexpected address %s", shown)
	}
	return err
}

// signedExternally is what became of a transaction that a device was to sign.
type signedExternally struct {
	packet   *psbt.Packet
	complete bool
}

// signExternally describes a packet and has the device sign it. It returns the packet that the device answers. Its
// transaction may differ but has to make the same payment, see [signing.SamePayment].
func (t *caller) signExternally(j *ask.Job, p *psbt.Packet, finalize bool) (signedExternally, error) {
	f := signing.NewFilling(p, &messages.FillPacket{Derivations: true}, t.cfg.Network.NewSigning, nil)
	err := t.do(j, func() {
		t.ledger.AddSpent(p)
		f.Know(t.ledger.Keys())
	})
	if err != nil {
		return signedExternally{}, err
	}
	defer f.Zero()
	var got signedExternally
	_, err = f.Run(j.Context())
	fee := signing.FeeOf(p)
	if err == nil {
		got, err = t.askDevice(j.Context(), p, finalize)
	}
	if err != nil {
		if !codes.IsAnswer(err) && !errors.Is(err, context.Canceled) {
			t.cfg.Log.Warn("signing device", "wallet", t.Label(), "err", err)
		}
		return signedExternally{}, codes.DeviceError(err)
	}
	return got, t.try(j, func() error {
		if !signing.SamePayment(p.Tx, got.packet.Tx, fee, t.ledger.Keys().IsMine) {
			t.cfg.Log.Warn("Failed to sign: Signer answered another transaction", "wallet", t.Label())
			return errSignerFailed
		}
		return nil
	})
}

func (t *caller) askDevice(ctx context.Context, p *psbt.Packet, finalize bool) (signedExternally, error) {
	if signing.IsComplete(p, t.cfg.Network.NewSigning, finalize) {
		return signedExternally{p, true}, nil // it needs nothing more
	}
	d, err := t.cfg.Signer.Find(ctx)
	var none device.NotFoundError
	switch {
	case errors.As(err, &none):
		t.cfg.Log.Warn("signing device", "wallet", t.Label(), "err", err)
		return signedExternally{}, errNoSigner
	case err != nil:
		return signedExternally{}, err
	}
	if !signing.Concerns(p, d.Fingerprint) {
		t.cfg.Log.Warn("Failed to sign: Signer fingerprint does not match any of the inputs", "wallet", t.Label())
		return signedExternally{}, errSignerFailed
	}
	text, err := d.Sign(ctx, p.Encode())
	var refused device.RefusalError
	switch {
	case errors.As(err, &refused):
		t.cfg.Log.Warn("Failed to sign", "wallet", t.Label(), "err", err)
		return signedExternally{}, errSignerFailed
	case err != nil:
		return signedExternally{}, err
	}
	signed, err := t.cfg.Network.DecodePSBT(text)
	if err != nil {
		t.cfg.Log.Warn("Failed to sign: TX decode failed", "wallet", t.Label(), "err", err)
		return signedExternally{}, errSignerFailed
	}
	return signedExternally{signed, signing.IsComplete(signed, t.cfg.Network.NewSigning, finalize)}, nil
}

// fillByDevice puts what the wallet knows into a packet, and has the device sign it.
func (t *caller) fillByDevice(j *ask.Job, p *psbt.Packet, finalize bool) (messages.FilledPacket, error) {
	got, err := t.signExternally(j, p, finalize)
	if err != nil {
		return messages.FilledPacket{}, err
	}
	result := messages.FilledPacket{PSBT: got.packet.Encode(), Complete: got.complete}
	if got.complete {
		result.Tx = got.packet.Extract()
	}
	return result, nil
}

// signByDevice has the device sign a transaction that the wallet pays with.
func (t *caller) signByDevice(j *ask.Job, q messages.SignWithWallet) (messages.Signed, error) {
	tx, ok := rawtx.Decode(q.RawTx, rawtx.WitnessForm)
	if !ok {
		return messages.Signed{}, codes.Errorf(codes.Decode, "TX decode failed")
	}
	got, err := t.signExternally(j, psbt.New(tx, t.cfg.Network.PSBTVersions[0]), true)
	if err != nil {
		return messages.Signed{}, err
	}
	return messages.Signed{RawTx: psbt.Serialize(got.packet.Extract(), true), Complete: got.complete}, nil
}
