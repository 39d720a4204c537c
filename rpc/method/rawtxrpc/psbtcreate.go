package rawtxrpc

import (
	"context"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/rawtx/psbt"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

var errSigned = command.Error{
	Code: command.DeserializationError, Message: "Inputs must not have scriptSigs and scriptWitnesses",
}

func (m *methods) createPSBT() command.Command {
	return command.Command{
		Name:     "createpsbt",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Builds a transaction as createrawtransaction does, and returns it partially signed (BIP174,\n" +
			"BIP370), with no signature yet.",
		Params:   append(buildParams(), arg.PSBTVersionParam(m.Network.PSBTVersions)),
		Results:  []command.Result{{Type: command.String, Help: "the partially signed transaction in base64"}},
		Examples: []string{`[[{"txid":"myid","vout":0}], [{"address":0.01}]]`},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			tx, err := m.build(ctx, a)
			if err != nil {
				return nil, err
			}
			return m.newPacket(tx, a.Value(5))
		},
	}
}

// newPacket returns a packet of the wanted version for a transaction.
func (m *methods) newPacket(tx *wire.MsgTx, wanted *jsontree.Value) (any, error) {
	version, err := arg.PSBTVersion(wanted, m.Network.PSBTVersions)
	if err != nil {
		return nil, err
	}
	return psbt.New(tx, version).Encode(), nil
}

func (m *methods) convertToPSBT() command.Command {
	return command.Command{
		Name:     "converttopsbt",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Makes a partially signed transaction (BIP174, BIP370) of a serialized one.",
		Params: []command.Param{
			{Name: "hexstring", Type: command.Hex, Help: "the serialized transaction"},
			{
				Name: "permitsigdata", Type: command.Bool, Default: "false",
				Help: "whether signatures are thrown away; otherwise they are an error",
			},
			isWitnessParam(),
			arg.PSBTVersionParam(m.Network.PSBTVersions),
		},
		Results:  []command.Result{{Type: command.String, Help: "the partially signed transaction in base64"}},
		Examples: []string{`["rawtransaction"]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return m.convert(a) },
	}
}

func (m *methods) convert(a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	permit, err := a.BoolOr(1, false)
	if err != nil {
		return nil, err
	}
	form, err := readForm(a.Value(2))
	if err != nil {
		return nil, err
	}
	tx, ok := decodeTx(text, form)
	if !ok {
		return nil, errTxDecode
	}
	for _, in := range tx.TxIn {
		if !permit && (len(in.SignatureScript) > 0 || len(in.Witness) > 0) {
			return nil, errSigned
		}
		in.SignatureScript, in.Witness = nil, nil
	}
	return m.newPacket(tx, a.Value(3))
}
