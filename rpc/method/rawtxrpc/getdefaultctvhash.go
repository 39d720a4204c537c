package rawtxrpc

import (
	"context"
	"encoding/hex"

	"github.com/seed61375155/trawl/internal/p2mr/vm"
	"github.com/seed61375155/trawl/internal/rawtx"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) getDefaultCTVHash() command.Command {
	return command.Command{
		Name:     "getdefaultctvhash",
		Category: command.RawTransactions,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Returns the hash by which OP_CHECKTEMPLATEVERIFY knows a transaction that spends an output (BIP119).",
		Params: []command.Param{
			{Name: "hexstring", Type: command.Hex, Help: "the serialized transaction"},
			{Name: "input_index", Type: command.Number, Help: "the input that spends the output, from 0"},
			{Name: "verbose", Type: command.Bool, Default: "false", Help: "true to see the hashed parts too"},
		},
		Results: []command.Result{
			{Type: command.Hex, When: "for verbose = false", Help: "the hash, its bytes in the order of the script"},
			{Type: command.Object, When: "for verbose = true", Inner: []command.Result{
				{Type: command.Hex, Key: "ctvhash", Help: "the hash, its bytes in the order of the script"},
				{Type: command.Number, Key: "version", Help: "version of the transaction"},
				{Type: command.Number, Key: "locktime", Help: "its lock time"},
				{Type: command.Bool, Key: "script_sigs_hash_included", Help: "whether an input has a script"},
				{
					Type: command.Hex, Key: "script_sigs_hash", Optional: true,
					Help: "SHA256 of the inputs' scripts, where one has any",
				},
				{Type: command.Number, Key: "input_count", Help: "number of inputs"},
				{Type: command.Hex, Key: "sequences_hash", Help: "SHA256 of the inputs' sequence numbers"},
				{Type: command.Number, Key: "output_count", Help: "number of outputs"},
				{Type: command.Hex, Key: "outputs_hash", Help: "SHA256 of the outputs"},
				{Type: command.Number, Key: "input_index", Help: "the input"},
			}},
		},
		Examples: []string{`["hexstring", 0]`, `["hexstring", 0, true]`},
		Run:      func(_ context.Context, a *command.Args) (any, error) { return m.templateHash(a) },
	}
}

// templateParts are what the hash of a template covers, with the hash.
type templateParts struct {
	Hash       string `json:"ctvhash"`
	Version    uint32 `json:"version"`
	LockTime   uint32 `json:"locktime"`
	HasScripts bool   `json:"script_sigs_hash_included"`
	Scripts    string `json:"script_sigs_hash,omitempty"`
	Inputs     uint32 `json:"input_count"`
	Sequences  string `json:"sequences_hash"`
	Outputs    uint32 `json:"output_count"`
	OutputSum  string `json:"outputs_hash"`
	Input      uint32 `json:"input_index"`
}

func (m *methods) templateHash(a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	tx, ok := decodeTx(text, rawtx.AnyForm)
	if !ok {
		return nil, errTxDecode
	}
	input, err := a.Uint32(1)
	if err != nil {
		return nil, err
	}
	if uint64(input) >= uint64(len(tx.TxIn)) {
		return nil, command.Errorf(command.InvalidParameter,
			"Input index %d is out of range for transaction with %d inputs", input, len(tx.TxIn))
	}
	template := m.Network.Template(tx)
	hash := template.Hash(int(input))
	if verbose, err := a.BoolOr(2, false); err != nil || !verbose {
		return hex.EncodeToString(hash[:]), err
	}
	return partsOf(template, hash[:], input), nil
}

func partsOf(t *vm.Template, hash []byte, input uint32) *templateParts {
	parts := &templateParts{
		Hash: hex.EncodeToString(hash), Version: t.Version, LockTime: t.LockTime, HasScripts: t.HasScripts,
		Inputs: t.Inputs, Sequences: hex.EncodeToString(t.Sequences[:]),
		Outputs: t.Outputs, OutputSum: hex.EncodeToString(t.OutputSum[:]), Input: input,
	}
	if t.HasScripts {
		parts.Scripts = hex.EncodeToString(t.Scripts[:])
	}
	return parts
}
