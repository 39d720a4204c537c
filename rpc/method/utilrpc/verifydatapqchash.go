package utilrpc

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/internal/slhdsa"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// proofMembers are the members of a proof, in the order in which their types are checked.
var proofMembers = []struct {
	name string
	kind jsontree.Kind
}{
	{"address", jsontree.String},
	{"control_block", jsontree.String},
	{"leaf_script", jsontree.String},
	{"leaf_version", jsontree.Number},
	{"message_hash", jsontree.String},
	{"proof_mode", jsontree.String},
	{"pubkey", jsontree.String},
	{"signature", jsontree.String},
}

func verifyDataPQCHash(d Deps) command.Command {
	return command.Command{
		Name:     "verifydatapqchash",
		Category: command.Util,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Tells whether data was signed with a key behind a P2MR address, by what signdatapqchash returned.",
		Params: []command.Param{{
			Name: "p2mr_proof", Type: command.Object, AnyType: true, Help: "the result of signdatapqchash",
			Inner: []command.Param{
				{Name: "address", Type: command.String, Help: "the address"},
				{Name: "message_hash", Type: command.Hex, Help: "the hash of the data, 32 bytes"},
				{Name: "signature", Type: command.Hex, Help: "the signature"},
				{Name: "pubkey", Type: command.Hex, Help: "the public key"},
				{Name: "leaf_script", Type: command.Hex, Help: "the script with the key"},
				{Name: "control_block", Type: command.Hex, Help: "proves that the script is behind the address"},
				{Name: "leaf_version", Type: command.Number, Help: "the version of the script"},
				{Name: "proof_mode", Type: command.String, Help: `"` + p2mr.DataProofMode + `"`},
			},
		}},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.Bool, Key: "valid", Help: "whether the data was signed"},
			{Type: command.String, Key: "error", Optional: true, Help: "why not"},
			{Type: command.String, Key: "address", Optional: true, Help: "the address"},
			{Type: command.Hex, Key: "message_hash", Optional: true, Help: "the hash of the data"},
			{Type: command.Hex, Key: "datasig_hash", Optional: true, Help: "what was signed"},
			{Type: command.Hex, Key: "pubkey", Optional: true, Help: "the public key"},
			{Type: command.String, Key: "proof_mode", Optional: true, Help: `"` + p2mr.DataProofMode + `"`},
			{Type: command.Hex, Key: "p2mr_merkle_root", Optional: true, Help: "what the address commits to"},
		}}},
		Examples: []string{`[{"address": "qb1...", "message_hash": "00...", "signature": "...", "pubkey": "...", ` +
			`"leaf_script": "...", "control_block": "c1", "leaf_version": 192, "proof_mode": "p2mr-pubkey"}]`},
		Run: func(_ context.Context, a *command.Args) (any, error) { return verifyData(d, a.Value(0)) },
	}
}

// verifiedData is what a proof shows.
type verifiedData struct {
	Valid   bool   `json:"valid"`
	Error   string `json:"error,omitempty"`
	Address string `json:"address,omitempty"`
	Hash    string `json:"message_hash,omitempty"`
	Signed  string `json:"datasig_hash,omitempty"`
	Key     string `json:"pubkey,omitempty"`
	Mode    string `json:"proof_mode,omitempty"`
	Root    string `json:"p2mr_merkle_root,omitempty"`
}

// errLeafVersion reports a proof whose script no rule of today runs, in the reference's words.
var errLeafVersion = errors.New("unsupported P2MR leaf version")

func verifyData(d Deps, given *jsontree.Value) (any, error) {
	for _, m := range proofMembers {
		switch v := given.Get(m.name); {
		case v.IsNull():
			return nil, command.Errorf(command.TypeError, "Missing %s", m.name)
		case v.Kind() != m.kind:
			return nil, command.Errorf(command.TypeError,
				"JSON value of type %v for field %s is not of expected type %v", v.Kind(), m.name, m.kind)
		}
	}
	proof, err := readProof(d, given)
	if err == nil {
		err = proof.Verify()
	}
	for _, why := range []error{errLeafVersion, p2mr.ErrProofLeaf, p2mr.ErrProofRoot, p2mr.ErrProofSignature} {
		if errors.Is(err, why) {
			return verifiedData{Error: why.Error()}, nil
		}
	}
	if err != nil {
		return nil, err
	}
	return verifiedData{
		Valid: true, Address: given.Get("address").Text(), Hash: hex.EncodeToString(proof.Data[:]),
		Signed: p2mr.DataHash(proof.Data).String(), Key: hex.EncodeToString(proof.Key[:]), Mode: p2mr.DataProofMode,
		Root: proof.Root.String(),
	}, nil
}

// readProof reads a proof whose members have the right types, in the reference's order.
func readProof(d Deps, given *jsontree.Value) (*p2mr.DataProof, error) {
	if given.Get("proof_mode").Text() != p2mr.DataProofMode {
		return nil, command.Errorf(command.InvalidParameter,
			"Only proof_mode \"%s\" is currently supported", p2mr.DataProofMode)
	}
	script, err := descriptor.ScriptOfAddress(given.Get("address").Text(), d.Net)
	if err != nil {
		return nil, command.Errorf(command.InvalidAddressOrKey, "Invalid address")
	}
	proof := new(p2mr.DataProof)
	var ok bool
	if proof.Root, ok = p2mr.ParseOutputScript(script); !ok {
		return nil, command.Errorf(command.InvalidAddressOrKey, "Address is not a P2MR address")
	}
	hash, err := sizedHex(given, "message_hash", len(proof.Data))
	if err != nil {
		return nil, err
	}
	proof.Data = p2mr.Hash(hash)
	if proof.Signature, err = sizedHex(given, "signature", slhdsa.SignatureSize); err != nil {
		return nil, err
	}
	key, err := sizedHex(given, "pubkey", slhdsa.PublicKeySize)
	if err != nil {
		return nil, err
	}
	proof.Key = slhdsa.PublicKey(key)
	if proof.Script, err = arg.HexText(given.Get("leaf_script").Text(), "leaf_script"); err != nil {
		return nil, err
	}
	return proof, readControl(given, proof)
}

// readControl reads the control block of a proof and the version of its script.
func readControl(given *jsontree.Value, proof *p2mr.DataProof) error {
	version, err := given.Get("leaf_version").AsInt32()
	if err != nil {
		return err
	}
	if version < 0 || version > 0xff {
		return command.Errorf(command.InvalidParameter, "leaf_version out of range")
	}
	if version != int32(p2mr.ScriptVersion) {
		return errLeafVersion
	}
	control, err := arg.HexText(given.Get("control_block").Text(), "control_block")
	if err != nil {
		return err
	}
	proof.Control, err = p2mr.ParseControlBlock(control)
	switch {
	case errors.Is(err, p2mr.ErrControlSize):
		return command.Errorf(command.InvalidParameter, "Invalid P2MR control block size")
	case errors.Is(err, p2mr.ErrControlBit):
		return command.Errorf(command.InvalidParameter, "P2MR control byte bit 0 must be set")
	case err == nil && proof.Control.Version != p2mr.ScriptVersion:
		return command.Errorf(command.InvalidParameter, "leaf_version does not match control_block")
	}
	return err
}

// sizedHex reads size bytes.
func sizedHex(given *jsontree.Value, name string, size int) ([]byte, error) {
	raw, err := arg.HexText(given.Get(name).Text(), name)
	if err == nil && len(raw) != size {
		err = command.Errorf(command.InvalidParameter, "%s must be exactly %d bytes", name, size)
	}
	return raw, err
}
