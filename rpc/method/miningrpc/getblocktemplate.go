package miningrpc

import (
	"context"

	"github.com/btcsuite/btcd/wire"

	"github.com/seed61375155/trawl/internal/ask"
	"github.com/seed61375155/trawl/internal/chainview"
	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

var errInvalidMode = command.Error{Code: command.InvalidParameter, Message: "Invalid mode"}

func getBlockTemplate(d *Deps) command.Command {
	templates := newTemplates(d)
	return command.Command{
		Name:     "getblocktemplate",
		Category: command.Mining,
		About:    command.State, Effect: command.Reads,
		Summary: "Returns what is needed to make the next block, or judges a block that is proposed.\n" +
			"See BIP22, BIP23, BIP9 and BIP145.",
		Params: []command.Param{{
			Name: "template_request", Type: command.Object, Help: "what is asked for",
			Inner: []command.Param{
				{Name: "mode", Type: command.String, Optional: true, Help: `"template", which is the default, or "proposal"`},
				{
					Name: "capabilities", Type: command.Array, Optional: true, Help: "what the client can do",
					Inner: []command.Param{
						{
							Name: "str", Type: command.String, Optional: true,
							Help: "\"longpoll\", \"coinbasevalue\", \"proposal\", \"serverlist\" or \"workid\"",
						},
					},
				},
				{Name: "rules", Type: command.Array, Help: "rules that the client knows", Inner: []command.Param{
					{Name: "segwit", Type: command.String, Help: "the word itself, which must be there"},
					{Name: "str", Type: command.String, Optional: true, Help: "another rule"},
				}},
				{
					Name: "longpollid", Type: command.String, Optional: true,
					Help: "that of an earlier template: the reply waits until it would be another",
				},
				{Name: "data", Type: command.Hex, Optional: true, Help: "the block that is proposed, serialized"},
			},
		}},
		Results: []command.Result{
			{Type: command.Null, When: "if the proposed block is valid but for its proof of work"},
			{Type: command.String, When: "if it is not", Help: "why, in the words of BIP22"},
			{Type: command.Object, When: "for a template", Inner: templateResults},
		},
		Examples: []string{`[{"rules": ["segwit"]}]`},
		Waits: func(a *command.Args) bool {
			request := a.Value(0)
			return !request.Get("longpollid").IsNull() && request.Get("mode").Text() != "proposal"
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) {
			request, err := readTemplateRequest(a.Value(0))
			if err != nil {
				return nil, err
			}
			if request.proposal {
				return d.propose(ctx, request.data)
			}
			return templates.get(ctx, request)
		},
	}
}

// templateRequest is the argument of getblocktemplate.
type templateRequest struct {
	proposal bool
	data     *jsontree.Value // of a proposal
	longPoll *jsontree.Value // null: the reply does not wait
	rules    map[string]bool // that the client knows
}

func readTemplateRequest(v *jsontree.Value) (*templateRequest, error) {
	r := &templateRequest{data: v.Get("data"), longPoll: v.Get("longpollid"), rules: make(map[string]bool)}
	mode := "template"
	switch given := v.Get("mode"); given.Kind() {
	case jsontree.String:
		mode = given.Text()
	case jsontree.Null:
	default:
		return nil, errInvalidMode
	}
	if mode == "proposal" {
		r.proposal = true
		return r, nil
	}
	if rules := v.Get("rules"); rules.Kind() == jsontree.Array {
		for _, rule := range rules.Elements() {
			name, err := rule.AsString()
			if err != nil {
				return nil, err
			}
			r.rules[name] = true
		}
	}
	if mode != "template" {
		return nil, errInvalidMode
	}
	return r, nil
}

// propose judges a block (BIP23).
func (d *Deps) propose(ctx context.Context, data *jsontree.Value) (any, error) {
	if data.Kind() != jsontree.String {
		return nil, command.Error{Code: command.TypeError, Message: "Missing data String key for proposal"}
	}
	raw, err := d.decodeBlock(data.Text())
	if err != nil {
		return nil, err
	}
	block, _, err := d.Network.ReadBlock(raw)
	if err != nil {
		return nil, errBlockDecode
	}
	if known := d.known(&block.Header); known != "" {
		return known, nil
	}
	_, err = ask.Ask(ctx, d.Actor, messages.ProposeBlock{Raw: raw})
	return bip22(err)
}

// known returns the verdict that the node already has on a proposed block,
// empty for a new block.
func (d *Deps) known(header *wire.BlockHeader) string {
	reader := d.Chain.Open()
	if reader == nil {
		return ""
	}
	hash := header.BlockHash()
	b := reader.Lookup(&hash)
	switch {
	case b == nil:
		return ""
	case b.Status().Invalid():
		return "duplicate-invalid"
	case b.Status()&chainview.Valid != 0:
		return "duplicate"
	}
	return "duplicate-inconclusive"
}
