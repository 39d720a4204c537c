package walletrpc

import (
	"context"
	"encoding/hex"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/p2mr"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// dataProof is a signature of data as signdatapqchash returns it.
type dataProof struct {
	Address     string `json:"address"`
	Hash        string `json:"message_hash"`
	Signed      string `json:"datasig_hash"`
	Domain      string `json:"domain"`
	Algorithm   string `json:"algorithm"`
	Mode        string `json:"proof_mode"`
	Key         string `json:"pubkey"`
	Signature   string `json:"signature"`
	LeafVersion int    `json:"leaf_version"`
	Leaf        string `json:"leaf_script"`
	Control     string `json:"control_block"`
	Root        string `json:"p2mr_merkle_root"`
	pqcSigned
}

func (m *methods) signDataPQCHash() command.Command {
	return command.Command{
		Name:     "signdatapqchash",
		Category: command.Wallet,
		About:    command.Funds,
		Summary: "Signs the hash of data with a key behind a P2MR address of the wallet. The result proves itself:\n" +
			"see verifydatapqchash. The wallet must be unlocked. Each call uses one of the signatures of the key.",
		Params: []command.Param{
			{Name: "address", Type: command.String, Help: "the address"},
			{Name: "message_hash", Type: command.Hex, Help: "the hash of the data, 32 bytes"},
			{
				Name: "options", Type: command.Object, Default: "{}", Usage: "options",
				Help: "which key signs, where there are several", Inner: []command.Param{
					{
						Name: "proof_mode", Type: command.String, Default: `"` + p2mr.DataProofMode + `"`,
						Help: "no other goes",
					},
					{Name: "pubkey", Type: command.Hex, Optional: true, Help: "the public key"},
					{Name: "leaf_script", Type: command.Hex, Optional: true, Help: "the script with the key"},
					{Name: "control_block", Type: command.Hex, Optional: true, Help: "its control block"},
					{
						Name: "include_pqc_usage", Type: command.Bool, Default: "false",
						Help: "whether it is told how many signatures the key has made",
					},
				},
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: append([]command.Result{
			{Type: command.String, Key: "address", Help: "the address"},
			{Type: command.Hex, Key: "message_hash", Help: "the hash of the data"},
			{Type: command.Hex, Key: "datasig_hash", Help: "what was signed, which no transaction can be"},
			{Type: command.String, Key: "domain", Help: "the tag that datasig_hash is made with"},
			{Type: command.String, Key: "algorithm", Help: "the signature scheme"},
			{Type: command.String, Key: "proof_mode", Help: `"` + p2mr.DataProofMode + `"`},
			{Type: command.Hex, Key: "pubkey", Help: "the public key"},
			{Type: command.Hex, Key: "signature", Help: "the signature"},
			{Type: command.Number, Key: "leaf_version", Help: "the version of the script with the key"},
			{Type: command.Hex, Key: "leaf_script", Help: "the script with the key"},
			{Type: command.Hex, Key: "control_block", Help: "proves that the script is behind the address"},
			{Type: command.Hex, Key: "p2mr_merkle_root", Help: "what the address commits to"},
		}, pqcSignedResults()...)}},
		Examples: []string{`["` + exampleAddress + `", "` + exampleHash + `"]`},
		Run:      m.on(m.runSignDataPQCHash),
	}
}

// exampleHash stands for the hash of data in help texts.
const exampleHash = "0001020304050607080900010203040506070809000102030405060708090001"

func (m *methods) runSignDataPQCHash(ctx context.Context, w chosen, a *command.Args) (any, error) {
	s, err := w.state(ctx)
	if err != nil {
		return nil, err
	}
	if err := s.needUnlocked(); err != nil {
		return nil, err
	}
	if err := s.needCheckedKeys(toSign); err != nil {
		return nil, err
	}
	address, err := a.String(0)
	if err != nil {
		return nil, err
	}
	var q messages.SignDataHash
	hash, err := readHex(a.Value(1), "message_hash", len(q.Hash))
	if err != nil {
		return nil, err
	}
	q.Hash = [32]byte(hash)
	options := a.Value(2)
	if err := checkKinds(options, dataOptions, true); err != nil {
		return nil, err
	}
	if err := checkProofMode(options); err != nil {
		return nil, err
	}
	if q.Script, err = descriptor.ScriptOfAddress(address, m.net); err != nil {
		return nil, command.Errorf(command.InvalidAddressOrKey, "Invalid address")
	}
	root, ok := p2mr.ParseOutputScript(q.Script)
	if !ok {
		return nil, command.Errorf(command.InvalidAddressOrKey, "Address is not a P2MR address")
	}
	if err := readDataLeaf(options, &q); err != nil {
		return nil, err
	}
	usage, err := optionOr(options, "include_pqc_usage", false)
	if err != nil {
		return nil, err
	}
	got, err := ask.Ask(ctx, w.ref, q)
	if err != nil {
		return nil, err
	}
	proof := dataProof{
		Address: address, Hash: hex.EncodeToString(hash), Signed: p2mr.DataHash(q.Hash).String(),
		Domain: "QbitDataSigPQC", Algorithm: "SLH-DSA-SHA2-128s-bounded30", Mode: p2mr.DataProofMode,
		Key: hex.EncodeToString(got.Key[:]), Signature: hex.EncodeToString(got.Signature),
		LeafVersion: int(p2mr.ScriptVersion), Leaf: hex.EncodeToString(got.Leaf),
		Control: hex.EncodeToString(got.Control), Root: root.String(),
	}
	if usage {
		proof.pqcSigned = newPQCSigned(got.PQCKeys)
	}
	return proof, nil
}

// dataOptions are the options in the order in which their types are checked.
var dataOptions = []option{
	{"control_block", jsontree.String},
	{"include_pqc_usage", jsontree.Bool},
	{"leaf_script", jsontree.String},
	{"proof_mode", jsontree.String},
	{"pubkey", jsontree.String},
}

func checkProofMode(options *jsontree.Value) error {
	v := options.Get("proof_mode")
	if v == nil {
		return nil
	}
	mode, err := v.AsString()
	if err == nil && mode != p2mr.DataProofMode {
		err = command.Errorf(
			command.InvalidParameter, "Only proof_mode \"%s\" is currently supported", p2mr.DataProofMode,
		)
	}
	return err
}

// readDataLeaf reads which key is to sign.
func readDataLeaf(options *jsontree.Value, q *messages.SignDataHash) (err error) {
	if v := options.Get("pubkey"); !v.IsNull() {
		key, err := readHex(v, "pubkey", len(q.Key))
		if err != nil {
			return err
		}
		q.Key = new([32]byte(key))
	}
	if v := options.Get("leaf_script"); !v.IsNull() {
		if q.Leaf, err = readHex(v, "leaf_script", 0); err != nil {
			return err
		}
	}
	if v := options.Get("control_block"); !v.IsNull() {
		q.Control, err = readHex(v, "control_block", 0)
	}
	return err
}

// readHex reads size bytes; 0: any number but none.
func readHex(v *jsontree.Value, name string, size int) ([]byte, error) {
	text, err := v.AsString()
	if err != nil {
		return nil, err
	}
	raw, err := arg.HexText(text, name)
	if err == nil && size != 0 && len(raw) != size {
		err = command.Errorf(command.InvalidParameter, "%s must be exactly %d bytes", name, size)
	}
	return raw, err
}
