package walletrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// descriptorList is what listdescriptors returns.
type descriptorList struct {
	Wallet      string             `json:"wallet_name"`
	Descriptors []listedDescriptor `json:"descriptors"`
	Warnings    []string           `json:"warnings,omitempty"`
}

// notExported warns that descriptors are not shown: see
// [messages.WalletDescriptor].
const notExported = "Omitted P2MR descriptors that use BIP32 extended public keys because they are not a " +
	"SPHINCS+/P2MR " +
	"public derivation interface. Use exportpubkeydb for watch-only P2MR tracking."

var notExportedResult = command.Result{
	Type: command.Array, Key: "warnings", Optional: true,
	Help:  "that descriptors are left out whose public form tells nothing; chains that pay to P2MR only",
	Inner: []command.Result{{Type: command.String, Help: "a warning"}},
}

type listedDescriptor struct {
	Desc      command.Secret `json:"desc"`
	Timestamp int64          `json:"timestamp"`
	Active    bool           `json:"active"`
	Internal  *bool          `json:"internal,omitempty"` // active ones
	*indices                 // ranged ones

	Annotations *annotations `json:"annotations,omitempty"`
}

// annotations are named as in BIP393.
type annotations struct {
	BirthHeight *uint64 `json:"bh,omitempty"`
	GapLimit    *uint64 `json:"gl,omitempty"`
	MaxLabel    *uint64 `json:"ml,omitempty"`
}

var annotationsResult = command.Result{
	Type: command.Object, Key: "annotations", Optional: true,
	Help: "what the descriptor was annotated with when it was imported (BIP393)",
	Inner: []command.Result{
		{
			Type: command.Number, Key: "bh", Optional: true,
			Help: "height of the block at or after which it was first paid to",
		},
		{Type: command.Number, Key: "gl", Optional: true, Help: "unused indices that may follow a used one"},
		{Type: command.Number, Key: "ml", Optional: true, Help: "largest label index, of silent payments"},
	},
}

// Secrets implements [command.Teller].
func (l descriptorList) Secrets() []command.Secret {
	secrets := make([]command.Secret, len(l.Descriptors))
	for i := range l.Descriptors {
		secrets[i] = l.Descriptors[i].Desc
	}
	return secrets
}

// indices are what a ranged descriptor was expanded to.
type indices struct {
	Range     [2]int32 `json:"range"` // both included
	Next      int32    `json:"next"`
	NextIndex int32    `json:"next_index"`
}

func (m *methods) listDescriptors() command.Command {
	return command.Command{
		Name:     "listdescriptors",
		Category: command.Wallet,
		About:    command.Funds, Effect: command.Reads,
		Summary: "Returns the descriptors of the wallet.",
		Params: []command.Param{
			{
				Name: "private", Type: command.Bool, Default: "false",
				Help: "whether they are shown with their private keys",
			},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "wallet_name", Help: "name of the wallet"},
			{
				Type: command.Array, Key: "descriptors", Help: "the descriptors, in the order of their texts",
				Inner: []command.Result{
					{Type: command.Object, Inner: []command.Result{
						{Type: command.String, Key: "desc", Help: "the descriptor", Secret: true},
						{Type: command.Number, Key: "timestamp", Help: "time from which on it may have been paid to"},
						{Type: command.Bool, Key: "active", Help: "whether new addresses are taken from it"},
						{
							Type: command.Bool, Key: "internal", Optional: true,
							Help: "(active ones only) whether these are addresses for change",
						},
						arg.RangeResult(
							"(ranged ones only) the indices that are watched: the first and the last", true,
						),
						{
							Type: command.Number, Key: "next", Optional: true,
							Help: "(ranged ones only) the same as next_index",
						},
						{
							Type: command.Number, Key: "next_index", Optional: true,
							Help: "(ranged ones only) index of the next new address",
						},
						annotationsResult,
					}},
				},
			},
			notExportedResult,
		}}},
		Examples: []string{`[]`, `[true]`},
		Run: m.on(func(ctx context.Context, w chosen, a *command.Args) (any, error) {
			private, err := a.BoolOr(0, false)
			if err != nil {
				return nil, err
			}
			got, err := ask.Ask(ctx, w.ref, messages.ListDescriptors{Private: private})
			if err != nil {
				return nil, err
			}
			list := descriptorList{Wallet: w.name, Descriptors: make([]listedDescriptor, 0, len(got))}
			for i := range got {
				if got[i].NotExported {
					list.Warnings = []string{notExported}
					continue
				}
				list.Descriptors = append(list.Descriptors, listDescriptor(&got[i]))
			}
			return list, nil
		}),
	}
}

func listDescriptor(d *messages.WalletDescriptor) listedDescriptor {
	listed := listedDescriptor{Desc: command.Secret(d.Desc), Timestamp: d.Timestamp, Active: d.Active}
	if d.Active {
		listed.Internal = &d.Internal
	}
	if d.Ranged {
		listed.indices = &indices{[2]int32{d.First, d.Last}, d.Next, d.Next}
	}
	if d.BirthHeight != nil || d.GapLimit != nil || d.MaxLabel != nil {
		listed.Annotations = &annotations{d.BirthHeight, d.GapLimit, d.MaxLabel}
	}
	return listed
}
