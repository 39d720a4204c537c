package walletrpc

import (
	"context"
	"math"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

func (m *methods) previewRestore() command.Command {
	return command.Command{
		Name:     "previewrestore",
		Category: command.Wallet,
		About:    command.Registry, Effect: command.Reads, At: command.Tip, Own: true,
		Summary: "Tells what is in a backup file, whether it is intact, and what restorewallet would do with it.\n" +
			"The file is only read, and nothing is written or copied, unless it is a copy of a wallet in use with\n" +
			"its journal or write-ahead log beside it: a copy below the wallets directory is made whole by them,\n" +
			"looked at and removed. No private key is shown.\n" +
			"A file with more than a million records is refused, and so is one that takes more than 30 seconds.\n" +
			"Who leaves ends it.",
		Params: []command.Param{
			{Name: "backup_file", Type: command.String, Help: "path of the backup"},
			{
				Name: "wallet_name", Type: command.String, Default: "one made of the file's name",
				Help: "name that the wallet is to have",
			},
		},
		Results: previewResults,
		Examples: []string{
			`["/home/backups/backup-file.bak"]`,
			`["/home/backups/backup-file.bak", "testwallet"]`,
		},
		Waits: func(*command.Args) bool { return true }, // so that it ends with the client
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			var q messages.PreviewRestore
			var err error
			if q.Backup, err = a.String(0); err != nil {
				return nil, err
			}
			if a.Has(1) {
				name, err := a.String(1)
				if err != nil {
					return nil, err
				}
				q.Name = &name
			}
			got, err := ask.Ask(ctx, m.Wallets, q)
			if err != nil {
				return nil, told(err)
			}
			return previewOf(&got), nil
		},
	}
}

// A preview is what previewrestore tells.
type preview struct {
	Size    int64   `json:"size"`
	Format  string  `json:"format"`
	Intact  bool    `json:"intact"`
	Problem *string `json:"problem,omitempty"`

	*previewContent
}

// How a copy of a wallet in use was made whole.
const (
	rolledBack = "rolled back by its journal"
	fromLog    = "taken over from its log"
)

type previewContent struct {
	Recovered       []string            `json:"recovered,omitempty"`
	Warnings        []string            `json:"warnings,omitempty"`
	Version         *int32              `json:"version,omitempty"`
	Flags           []string            `json:"flags"`
	PrivateKeys     bool                `json:"private_keys"`
	Encrypted       bool                `json:"encrypted"`
	Birth           *int64              `json:"birthtime,omitempty"`
	Transactions    int                 `json:"txcount"`
	Labels          int                 `json:"labels"`
	LastBlock       *previewBlock       `json:"lastprocessedblock,omitempty"`
	DescriptorCount int                 `json:"descriptorcount"`
	Descriptors     []previewDescriptor `json:"descriptors"`
	Plan            previewPlan         `json:"restore"`
	Beyond          *previewBeyond      `json:"beyond,omitempty"`
}

type previewBeyond struct {
	Payments bool  `json:"payments"`
	Gap      int32 `json:"gap,omitempty"`
}

type previewBlock struct {
	Hash   string `json:"hash"`
	Height *int32 `json:"height,omitempty"`
}

type previewDescriptor struct {
	Desc         string   `json:"desc"`
	Timestamp    int64    `json:"timestamp"`
	Active       bool     `json:"active"`
	Internal     *bool    `json:"internal,omitempty"`
	Range        []int32  `json:"range,omitempty"`
	Next         *int32   `json:"next_index,omitempty"`
	PrivateKeys  bool     `json:"private_keys"`
	Fingerprints []string `json:"fingerprints"`
	Addresses    []string `json:"addresses"`
}

type previewPlan struct {
	Name     string  `json:"name"`
	Possible bool    `json:"possible"`
	Problem  *string `json:"problem,omitempty"`
	Blocks   int32   `json:"rescan_blocks"`
	From     *int32  `json:"rescan_from,omitempty"`
	To       *int32  `json:"rescan_to,omitempty"`
	Filters  bool    `json:"filters"`
	Fetch    int32   `json:"blocks_to_fetch"`
	Estimate int64   `json:"estimated_seconds"`
}

func previewOf(got *messages.RestorePreview) preview {
	p := preview{Size: got.Size, Format: got.Format, Intact: got.Problem == "" && !got.Partial}
	if got.Problem != "" {
		p.Problem = &got.Problem
		return p
	}
	c := &previewContent{
		Warnings: got.Warnings,
		Version:  got.Version, Flags: list(got.Flags), PrivateKeys: got.PrivateKeys, Encrypted: got.Encrypted,
		Transactions: got.Transactions, Labels: got.Labels, DescriptorCount: got.NDescriptors,
		Descriptors: make([]previewDescriptor, len(got.Descriptors)), Plan: planOf(&got.Plan),
	}
	if got.RolledBack {
		c.Recovered = append(c.Recovered, rolledBack)
	}
	if got.FromLog {
		c.Recovered = append(c.Recovered, fromLog)
	}
	if !got.Birth.IsZero() {
		c.Birth = new(got.Birth.Unix())
	}
	if at := got.LastBlock; at != nil {
		c.LastBlock = &previewBlock{Hash: at.Hash.String()}
		if at.Height >= 0 {
			c.LastBlock.Height = &at.Height
		}
	}
	for i := range got.Descriptors {
		c.Descriptors[i] = previewDescriptorOf(&got.Descriptors[i])
	}
	if got.Beyond.Known {
		c.Beyond = &previewBeyond{got.Beyond.Found, got.Beyond.Gap}
	}
	p.previewContent = c
	return p
}

func previewDescriptorOf(d *messages.PreviewDescriptor) previewDescriptor {
	shown := previewDescriptor{
		Desc: d.Desc, Timestamp: d.Birth.Unix(), Active: d.Active, PrivateKeys: d.PrivateKeys,
		Fingerprints: list(d.Fingerprints), Addresses: list(d.Addresses),
	}
	if d.Active {
		shown.Internal = &d.Internal
	}
	if d.Ranged {
		shown.Range, shown.Next = d.Range[:], &d.Next
	}
	return shown
}

func planOf(p *messages.RestorePlan) previewPlan {
	shown := previewPlan{
		Name: p.Name, Possible: p.Problem == "", Blocks: p.Blocks, Filters: p.Filters, Fetch: p.Fetch,
		Estimate: int64(math.Ceil(p.Estimate.Seconds())),
	}
	if !shown.Possible {
		shown.Problem = &p.Problem
	}
	if p.Blocks > 0 {
		shown.From, shown.To = &p.From, &p.To
	}
	return shown
}

// list is never null.
func list(texts []string) []string { return append([]string{}, texts...) }

var previewResults = []command.Result{{Type: command.Object, Inner: []command.Result{
	{Type: command.Number, Key: "size", Help: "size of the file, in bytes"},
	{
		Type: command.String, Key: "format",
		Help: `"sqlite" for a wallet of this network, "bdb" for a legacy wallet, "unknown" for anything else`,
	},
	{Type: command.Bool, Key: "intact", Help: "whether all of the wallet is there"},
	{
		Type: command.String, Key: "problem", Optional: true,
		Help: "why the wallet cannot be loaded, as restorewallet says it; what follows is there if it can be",
	},
	{
		Type: command.Array, Key: "recovered", Optional: true,
		Help: "what was done with the changes of a wallet that was copied while in use", Inner: []command.Result{
			{Type: command.String, Help: `"` + rolledBack + `" for one that was interrupted, "` + fromLog + `"`},
		},
	},
	{
		Type: command.Array, Key: "warnings", Optional: true, Help: "what restorewallet would warn of",
		Inner: []command.Result{{Type: command.String, Help: "a warning"}},
	},
	{Type: command.Number, Key: "version", Optional: true, Help: "of the client that wrote the file last"},
	{Type: command.Array, Key: "flags", Optional: true, Help: "flags of the wallet", Inner: []command.Result{
		{Type: command.String, Help: "name of a flag"},
	}},
	{Type: command.Bool, Key: "private_keys", Optional: true, Help: "whether there are private keys"},
	{Type: command.Bool, Key: "encrypted", Optional: true, Help: "whether the wallet has a passphrase"},
	{Type: command.Timestamp, Key: "birthtime", Optional: true, Help: "of the oldest descriptor"},
	{Type: command.Number, Key: "txcount", Optional: true, Help: "transactions"},
	{Type: command.Number, Key: "labels", Optional: true, Help: "addresses with a label"},
	{
		Type: command.Object, Key: "lastprocessedblock", Optional: true, Help: "the last block it has seen",
		Inner: []command.Result{
			{Type: command.Hex, Key: "hash", Help: "its hash"},
			{Type: command.Number, Key: "height", Optional: true, Help: "its height, if the active chain has it"},
		},
	},
	{Type: command.Number, Key: "descriptorcount", Optional: true, Help: "descriptors"},
	{
		Type: command.Array, Key: "descriptors", Optional: true, Help: "the first thousand of them",
		Inner: []command.Result{{Type: command.Object, Inner: []command.Result{
			{Type: command.String, Key: "desc", Help: "public descriptor, with its checksum"},
			{Type: command.Timestamp, Key: "timestamp", Help: "when it was made"},
			{Type: command.Bool, Key: "active", Help: "whether new addresses are of it"},
			{Type: command.Bool, Key: "internal", Optional: true, Help: "whether for change, where it is active"},
			{
				Type: command.Array, Key: "range", Optional: true, Help: "first and last index, where it has a range",
				Inner: []command.Result{{Type: command.Number, Help: "an index"}},
			},
			{Type: command.Number, Key: "next_index", Optional: true, Help: "of the next address, if it has a range"},
			{Type: command.Bool, Key: "private_keys", Help: "whether there are private keys of it"},
			{
				Type: command.Array, Key: "fingerprints", Help: "of the keys at which its paths begin",
				Inner: []command.Result{{Type: command.Hex, Help: "a fingerprint"}},
			},
			{
				Type: command.Array, Key: "addresses", Help: "the first ones",
				Inner: []command.Result{{Type: command.String, Help: "an address"}},
			},
		}}},
	},
	{
		Type: command.Object, Key: "restore", Optional: true, Help: "what restorewallet would do now",
		Inner: []command.Result{
			{Type: command.String, Key: "name", Help: "name of the wallet"},
			{Type: command.Bool, Key: "possible", Help: "whether it would succeed, as far as that can be known"},
			{Type: command.String, Key: "problem", Optional: true, Help: "why not"},
			{Type: command.Number, Key: "rescan_blocks", Help: "blocks that would be looked through"},
			{Type: command.Number, Key: "rescan_from", Optional: true, Help: "height of the first of them"},
			{Type: command.Number, Key: "rescan_to", Optional: true, Help: "height of the last of them"},
			{Type: command.Bool, Key: "filters", Help: "whether by their filters; otherwise each is read"},
			{Type: command.Number, Key: "blocks_to_fetch", Help: "those of them that are not on the disk"},
			{
				Type: command.Number, Key: "estimated_seconds",
				Help: "how long that may take, from a part that was tried; rounded up",
			},
		},
	},
	{
		Type: command.Object, Key: "beyond", Optional: true,
		Help: "payments beyond the addresses that restorewallet would derive, ten times -keypool further, a thousand " +
			"at most; absent where that is not known: without block filters, where keys are needed, and where a look " +
			"of five seconds is not enough",
		Inner: []command.Result{
			{Type: command.Bool, Key: "payments", Help: "whether there are any"},
			{Type: command.Number, Key: "gap", Optional: true, Help: "of checkwallet, which finds them then"},
		},
	},
}}}
