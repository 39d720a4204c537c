package chainrpc

import (
	"context"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/internal/receipt"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// accountSum is what scripts received and spent; nothing is told after an abort.
type accountSum struct {
	Received *jsontree.Amount `json:"received,omitempty"`
	Spent    *jsontree.Amount `json:"spent,omitempty"`
	Balance  *jsontree.Amount `json:"balance,omitempty"`
}

// accountHeights are the heights of the first and the last block.
type accountHeights struct {
	First *int32 `json:"first_height,omitempty"`
	Last  *int32 `json:"last_height,omitempty"`
}

func amountsOf(s *messages.AccountSum, completed bool) (sum accountSum) {
	if completed {
		sum.Received, sum.Spent = new(jsontree.Amount(s.Received)), new(jsontree.Amount(s.Spent))
		sum.Balance = new(jsontree.Amount(s.Balance()))
	}
	return sum
}

func heightsOf(s *messages.AccountSum) (h accountHeights) {
	if s.FirstHeight >= 0 {
		h.First, h.Last = &s.FirstHeight, &s.LastHeight
	}
	return h
}

type accountResult struct {
	Purpose *int32          `json:"purpose,omitempty"`
	Number  *int32          `json:"account,omitempty"`
	Form    string          `json:"form,omitempty"`
	Chains  []accountObject `json:"descriptors"`
	accountSum
	accountHeights
}

// accountObject is a descriptor as other methods take it.
type accountObject struct {
	Desc command.Secret `json:"desc"`

	Range     [2]int32 `json:"range"`
	Time      *int64   `json:"timestamp,omitempty"`
	Internal  bool     `json:"internal"`
	Next      int32    `json:"next_index"`
	Gap       int32    `json:"gap,omitempty"`
	Exhausted bool     `json:"exhausted"`
	accountSum
	accountHeights
}

type discoveryResult struct {
	Accounts []accountResult `json:"accounts"`
	From     int32           `json:"from_height"`
	To       int32           `json:"to_height"`
	Block    string          `json:"blockhash"`
	Passes   int             `json:"passes"`
	accountSum
	Completed bool             `json:"completed"`
	Receipt   *receipt.Receipt `json:"receipt,omitempty"`
}

// Secrets implements [command.Teller].
func (r discoveryResult) Secrets() (secrets []command.Secret) {
	for i := range r.Accounts {
		for _, c := range r.Accounts[i].Chains {
			secrets = append(secrets, c.Desc)
		}
	}
	return secrets
}

// print returns what was found.
func (m *discovery) print(ctx context.Context, d *messages.Discovery, private, hide bool) (any, error) {
	result := discoveryResult{
		Accounts: []accountResult{}, To: d.To, Block: d.Stop.String(), Passes: d.Passes, Completed: d.Completed,
	}
	var total messages.AccountSum
	for i := range d.Accounts {
		account := &d.Accounts[i]
		total.Received += account.Received
		total.Spent += account.Spent
		r := accountResult{
			Form: account.Form, accountSum: amountsOf(&account.AccountSum, d.Completed),
			accountHeights: heightsOf(&account.AccountSum),
		}
		if account.Purpose >= 0 {
			r.Purpose = &account.Purpose
		}
		if account.Number >= 0 {
			r.Number = &account.Number
		}
		for c := range account.Chains {
			r.Chains = append(r.Chains, objectOf(&account.Chains[c], d.Completed, private))
		}
		result.Accounts = append(result.Accounts, r)
	}
	result.accountSum = amountsOf(&total, d.Completed)
	if !d.Completed {
		return result, nil
	}
	r := &receipt.Receipt{Activity: &receipt.Activity{
		Entries: d.Entries, Received: uint64(total.Received), Spent: uint64(total.Spent),
	}}
	if !hide {
		var told []receipt.Descriptor
		for i := range d.Chains {
			c := &d.Chains[i]
			told = append(told, receipt.Descriptor{Text: c.Desc, Ranged: true, Last: uint32(c.LastIndex)})
		}
		r.SetDescriptors(told)
	}
	r.SetScripts(d.Scripts.Scripts())
	r.SetFound(d.Blocks)
	result.Receipt = r
	return result, m.deps.Complete(ctx, r, &d.Stop)
}

func objectOf(c *messages.AccountChain, completed, private bool) accountObject {
	o := accountObject{
		Desc: command.Secret(c.Desc), Range: [2]int32{0, c.LastIndex}, Internal: c.Change, Next: c.HighestUsed + 1,
		Exhausted: c.Exhausted || !completed, accountSum: amountsOf(&c.AccountSum, completed),
		accountHeights: heightsOf(&c.AccountSum),
	}
	if private && c.PrivateDesc != nil {
		o.Desc = command.Secret(c.PrivateDesc)
	}
	if c.Derivable {
		o.Gap = c.Gap
	}
	if completed {
		o.Time = &c.Time
	}
	return o
}
