package chainrpc

import (
	"context"
	"errors"
	"slices"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

func discoverAccounts(d *Deps) command.Command {
	m := &discovery{d}
	return command.Command{
		Name:     "discoveraccounts",
		Category: command.Blockchain,
		About:    command.Filters, Effect: command.Reads, At: command.Tip, Own: true,
		Summary: "Looks in all blocks for every used account of a wallet, from a key, a descriptor or words (needs " +
			"the block filter index).\n" +
			"It looks for the accounts of BIP44, BIP49, BIP84 and BIP86, on qbit's networks for P2MR accounts, " +
			"from 0 on, with addresses for receiving and for change. An account's key is looked for in all " +
			"forms of script with which it may have been used.\n" +
			"It is the node's one scan meanwhile. Keys and words are not kept. Over a whole chain this takes " +
			"minutes: let the client wait that long.",
		Params:  discoverParams,
		Results: discoverResults,
		Examples: []string{
			`["start", "xpub6CatWdiZiodmUeTDp8LT5or8nmbKNcuyvz7WyksVFkKB4RHwCD3XyuvPEbvqAQY3rAPshWcMLoP2fMFMKHPJ4ZeZXYVUhLv1VMrjPC7PW6V"]`,
			`["status"]`,
		},
		Run: m.run,
		Control: func(a *command.Args) bool {
			action, _ := a.String(0)
			return action == scanStatus || action == scanAbort
		},
	}
}

var discoverParams = []command.Param{
	{
		Name: "action", Type: command.String,
		Help: "\"start\" begins a discovery and returns its result\n" +
			"\"status\" tells how far the running discovery is\n" +
			"\"abort\" ends the running discovery",
	},
	{
		Name: "source", Type: command.String, Optional: true, Secret: true,
		Help: "needed to start: an extended key, private or public, with its origin or without; a descriptor; or\n" +
			"the English words of BIP39",
	},
	{Name: "passphrase", Type: command.String, Default: `""`, Secret: true, Help: "of the words"},
	{
		Name: "options", Type: command.NamedOptions, Optional: true, Usage: "options",
		Inner: []command.Param{
			{
				Name: "account_gap", Type: command.Number, Default: "20",
				Help: "1 to 1000: so many unused accounts end the search for further ones",
			},
			{
				Name: "gap", Type: command.Number, Default: "1000, of P2MR 20",
				Help: "1 to 100000: so many unused addresses end a chain of addresses. Keys of P2MR take milliseconds",
			},
			{
				Name: "private", Type: command.Bool, Default: "false",
				Help: "return descriptors with private keys, if these are known",
			},
			{
				Name: "receipt_descriptors", Type: command.Bool, Default: "true",
				Help: "whether the receipt tells the descriptors, and not only a digest of their scripts",
			},
		},
		Help: "further options",
	},
}

// sumResults are members about what was received and spent.
func sumResults(of string) []command.Result {
	absent := "; absent after an abort"
	return []command.Result{
		{Type: command.Amount, Key: "received", Optional: true, Help: "by " + of + absent},
		{Type: command.Amount, Key: "spent", Optional: true, Help: "of it"},
		{Type: command.Amount, Key: "balance", Optional: true, Help: "the rest"},
	}
}

var heightResults = []command.Result{
	{Type: command.Number, Key: "first_height", Optional: true, Help: "height of the first block, if there is one"},
	{Type: command.Number, Key: "last_height", Optional: true, Help: "height of the last block"},
}

var discoverResults = []command.Result{
	{Type: command.Object, When: "when action=='start'", Inner: slices.Concat([]command.Result{
		{
			Type: command.Array, Key: "accounts", Help: "the accounts that are used",
			Inner: []command.Result{{Type: command.Object, Inner: slices.Concat([]command.Result{
				{Type: command.Number, Key: "purpose", Optional: true, Help: "of the standard path, as 84"},
				{Type: command.Number, Key: "account", Optional: true, Help: "its number, if that is known"},
				{
					Type: command.String, Key: "form", Optional: true,
					Help: "of its descriptors, as wpkh(KEY), but where a descriptor was given",
				},
				{
					Type: command.Array, Key: "descriptors",
					Help: "for receiving and for change, as importdescriptors, createsearch and scanblocks take them",
					Inner: []command.Result{{Type: command.Object, Inner: slices.Concat([]command.Result{
						{
							Type: command.String, Key: "desc", Secret: true,
							Help: "the descriptor, with private keys on demand alone",
						},
						arg.RangeResult("the indices that were looked for: the first and the last", false),
						{
							Type: command.Timestamp, Key: "timestamp", Optional: true,
							Help: "time of the account's first block; absent after an abort",
						},
						{Type: command.Bool, Key: "internal", Help: "whether the addresses are for change"},
						{Type: command.Number, Key: "next_index", Help: "the one after the highest that is used"},
						{
							Type: command.Number, Key: "gap", Optional: true,
							Help: "of a descriptor that everyone can derive from",
						},
						{
							Type: command.Bool, Key: "exhausted",
							Help: "true: the range ended before the gap did, so that payments behind it may be missed",
						},
					}, sumResults("these addresses"), heightResults)}},
				},
			}, sumResults("the account"), heightResults)}},
		},
		{Type: command.Number, Key: "from_height", Help: "0"},
		{Type: command.Number, Key: "to_height", Help: "height of the last block"},
		{Type: command.Hex, Key: "blockhash", Help: "hash of that block"},
		{Type: command.Number, Key: "passes", Help: "how often the filters of all blocks were looked at"},
	}, sumResults("all accounts"), []command.Result{
		{Type: command.Bool, Key: "completed", Help: "false when the discovery was aborted: accounts may be missing"},
		arg.ReceiptResult("of all that was looked for, also accounts that are not used; absent after an abort"),
	})},
	{Type: command.Object, When: "when action=='status' and a discovery is running", Inner: []command.Result{
		{Type: command.Number, Key: "progress", Help: "percentage done of the stage"},
		{Type: command.Number, Key: "current_height", Help: "height up to which the present pass has looked at blocks"},
		{Type: command.String, Key: "stage", Help: `"deriving scripts", "matching filters" or "reading result"`},
		{Type: command.Number, Key: "pass", Help: "the present pass, from 1 on; most wallets need two or three"},
		{Type: command.Number, Key: "accounts", Help: "used accounts that are known yet"},
		{Type: command.Number, Key: "scripts", Help: "that were derived"},
	}},
	{Type: command.Null, When: "when action=='status' and no discovery is running"},
	{Type: command.Bool, When: "when action=='abort'", Help: "whether there was a discovery to end"},
}

// discovery is the body of discoveraccounts.
type discovery struct{ deps *Deps }

func (m *discovery) run(ctx context.Context, a *command.Args) (any, error) {
	action, err := a.String(0)
	if err != nil {
		return nil, err
	}
	switch action {
	case scanStart:
		return m.start(ctx, a)
	case scanStatus:
		return m.status(ctx)
	case scanAbort:
		if m.deps.Index == nil {
			return false, nil
		}
		return ask.Ask(ctx, m.deps.Index.Discovery, messages.AbortDiscovery{})
	default:
		return nil, command.Errorf(command.InvalidParameter, "Invalid action '%s'", action)
	}
}

func (m *discovery) status(ctx context.Context) (any, error) {
	if m.deps.Index == nil {
		return nil, nil
	}
	s, err := ask.Ask(ctx, m.deps.Index.Discovery, messages.GetDiscovery{})
	if err != nil || !s.Running {
		return nil, err
	}
	stage := string(s.Stage)
	if s.Stage == messages.ScanMatching {
		stage = "matching filters"
	}
	return struct {
		Progress int    `json:"progress"`
		Height   int32  `json:"current_height"`
		Stage    string `json:"stage"`
		Pass     int    `json:"pass"`
		Accounts int    `json:"accounts"`
		Scripts  int    `json:"scripts"`
	}{s.Progress, s.Height, stage, s.Pass, s.Accounts, s.Scripts}, nil
}

func (m *discovery) start(ctx context.Context, a *command.Args) (any, error) {
	q, hide, err := readDiscovery(a)
	if err != nil {
		return nil, err
	}
	if m.deps.Index == nil {
		return nil, errIndexOff
	}
	found, err := ask.Ask(ctx, m.deps.Index.Discovery, q)
	if source, ok := errors.AsType[*messages.DiscoverySourceError](err); ok {
		return nil, command.Error{Code: command.InvalidAddressOrKey, Message: source.Text}
	}
	if limit, ok := errors.AsType[*messages.SearchLimitError](err); ok {
		return nil, command.Error{Code: command.InvalidParameter, Message: limit.Error()}
	}
	if err != nil {
		return nil, scanFailure(err)
	}
	return m.print(ctx, &found, q.Private, hide)
}

// maxAccountGap is the largest gap of accounts.
const maxAccountGap = 1000

// readDiscovery reads the arguments. It copies the secrets, since the call may end before the discovery, and overwrites
// them then.
func readDiscovery(a *command.Args) (q messages.DiscoverAccounts, hide bool, err error) {
	source, err := a.String(1)
	if err != nil {
		return q, false, err
	}
	passphrase := ""
	if a.Has(2) {
		if passphrase, err = a.String(2); err != nil {
			return q, false, err
		}
	}
	options, tell := a.Value(3), true
	for key := range options.Members() {
		if !slices.Contains([]string{"account_gap", "gap", "private", "receipt_descriptors"}, key) {
			return q, false, command.Errorf(command.TypeError, "Unexpected key %s", key)
		}
	}
	for _, gap := range []struct {
		name string
		most int32
		to   *int32
	}{{"account_gap", maxAccountGap, &q.AccountGap}, {"gap", arg.MaxGap, &q.Gap}} {
		v := options.Get(gap.name)
		if v.IsNull() {
			continue
		}
		if *gap.to, err = v.AsInt32(); err == nil && (*gap.to < 1 || *gap.to > gap.most) {
			err = command.Errorf(command.InvalidParameter, "%s must be between 1 and %d", gap.name, gap.most)
		}
		if err != nil {
			return q, false, err
		}
	}
	for name, to := range map[string]*bool{"private": &q.Private, "receipt_descriptors": &tell} {
		if v := options.Get(name); !v.IsNull() {
			if *to, err = v.AsBool(); err != nil {
				return q, false, err
			}
		}
	}
	q.Source, q.Passphrase = messages.Secret(source), messages.Secret(passphrase)
	return q, !tell, nil
}
