package walletrpc

import (
	"github.com/btcsuite/btcd/btcutil"

	"github.com/seed61375155/trawl/internal/jsontree"
	"github.com/seed61375155/trawl/messages"
	"github.com/seed61375155/trawl/rpc/command"
)

// readListUnspent reads which coins are to be listed.
func (m *methods) readListUnspent(a *command.Args) (q messages.ListUnspent, err error) {
	q.MaxAmount = btcutil.Amount(m.Network.Rules.MaxMoney)
	if q.MinConf, err = a.Int32Or(0, 1); err != nil {
		return q, err
	}
	if q.MaxConf, err = a.Int32Or(1, 9_999_999); err != nil {
		return q, err
	}
	if q.Scripts, err = m.readAddresses(a.Value(2)); err != nil {
		return q, err
	}
	if q.IncludeUnsafe, err = a.BoolOr(3, true); err != nil {
		return q, err
	}
	if a.Has(4) {
		err = m.readUnspentOptions(a.Value(4), &q)
	}
	return q, err
}

// readAddresses reads a list of addresses, each of which may be there once.
func (m *methods) readAddresses(list *jsontree.Value) ([][]byte, error) {
	var scripts [][]byte
	seen := make(map[string]bool, list.Len())
	for _, v := range list.Elements() {
		text, err := v.AsString()
		if err != nil {
			return nil, err
		}
		script, err := m.script(text, ": "+text)
		if err != nil {
			return nil, err
		}
		if seen[string(script)] {
			return nil, command.Errorf(command.InvalidParameter, "Invalid parameter, duplicated address: %s", text)
		}
		seen[string(script)] = true
		scripts = append(scripts, script)
	}
	return scripts, nil
}

// unspentOptions are the options in the order in which Core checks their types,
// which is that of their names.
var unspentOptions = []option{
	{"include_immature_coinbase", jsontree.Bool},
	{"maximumAmount", jsontree.Null},
	{"maximumCount", jsontree.Number},
	{"minimumAmount", jsontree.Null},
	{"minimumSumAmount", jsontree.Null},
}

// readUnspentOptions reads the options. An option that is null passes the check
// of its type, but is read all the same.
func (m *methods) readUnspentOptions(options *jsontree.Value, q *messages.ListUnspent) error {
	if err := checkOptions(options, unspentOptions); err != nil {
		return err
	}
	for _, option := range []struct {
		name string
		to   *btcutil.Amount
	}{
		{"minimumAmount", &q.MinAmount}, {"maximumAmount", &q.MaxAmount}, {"minimumSumAmount", &q.MinSum},
	} {
		v := options.Get(option.name)
		if v == nil {
			continue
		}
		amount, err := v.AsAmount(jsontree.Amount(m.Network.Rules.MaxMoney))
		if err != nil {
			return err
		}
		*option.to = btcutil.Amount(amount)
	}
	if options.Get("minimumSumAmount") != nil {
		q.MinSum = max(q.MinSum, 1) // any coin is more than nothing
	}
	if v := options.Get("maximumCount"); v != nil {
		count, err := v.AsInt64()
		if err != nil {
			return err
		}
		q.MaxCount = int(max(count, 0))
	}
	var err error
	q.IncludeImmature, err = optionalBool(options, "include_immature_coinbase")
	return err
}
