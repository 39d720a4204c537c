package utilrpc

import (
	"context"
	"errors"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/internal/cores"
	"github.com/seed61375155/trawl/rpc/command"
	"github.com/seed61375155/trawl/rpc/method/internal/arg"
)

// pubKeyType is the type of the one script of combo() that has no address.
const pubKeyType = "pubkey"

var (
	errUnwantedRange = command.Error{
		Code: command.InvalidParameter, Message: "Range should not be specified for an un-ranged descriptor",
	}
	errMissingRange = command.Error{
		Code: command.InvalidParameter, Message: "Range must be specified for a ranged descriptor",
	}
	errNeedsPrivateKey = command.Error{
		Code: command.InvalidAddressOrKey, Message: "Cannot derive script without private keys",
	}
	errUnsatisfiable = command.Error{
		Code:    command.InvalidAddressOrKey,
		Message: "P2MR descriptor has no wallet-constructible satisfaction: multi_a thresholds must not exceed 35",
	}
	errNoAddress = command.Error{
		Code: command.InvalidAddressOrKey, Message: "Descriptor does not have a corresponding address",
	}
)

func deriveAddresses(d Deps) command.Command {
	addresses := []command.Result{{Type: command.String, Help: "An address"}}
	return command.Command{
		Name:     "deriveaddresses",
		Category: command.Util,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Returns the addresses that an output descriptor stands for.\n" +
			"Scripts without address, such as those of pk(), are an error.",
		Params: []command.Param{
			{Name: "descriptor", Type: command.String, Help: "The descriptor, with checksum", Secret: true},
			{
				Name: "range", Type: command.Range, Optional: true,
				Help: "For a ranged descriptor: the last index, or the first and the last",
			},
		},
		Results: []command.Result{
			{Type: command.Array, When: "for one descriptor", Inner: addresses},
			{Type: command.Array, When: "for a multipath descriptor", Inner: []command.Result{
				{Type: command.Array, Help: "The addresses of one path", Inner: addresses},
			}},
		},
		Examples: []string{
			`["pkh(` + exampleKey + `)#e48zzw02"]`,
			`["wpkh(xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7` +
				`WEGuduB/0/*)#fmv2q5y2", [0, 2]]`,
		},
		Run: func(ctx context.Context, a *command.Args) (any, error) { return d.deriveAddresses(ctx, a) },
	}
}

func (d Deps) deriveAddresses(ctx context.Context, a *command.Args) (any, error) {
	text, err := a.String(0)
	if err != nil {
		return nil, err
	}
	var first, last uint32
	if a.Has(1) {
		if first, last, err = arg.Range(a.Value(1)); err != nil {
			return nil, err
		}
	}
	branches, err := d.parse(text, descriptor.Options{RequireChecksum: true}) //nolint:contextcheck // one index
	if err != nil {
		return nil, err
	}
	for _, branch := range branches {
		if satisfiable, isP2MR := branch.P2MRSatisfiable(); isP2MR && branch.IsSolvable() && !satisfiable {
			return nil, errUnsatisfiable
		}
	}
	// An explicit null counts as a range here, that of index 0.
	if given := a.Len() > 1; given && !branches[0].IsRanged() {
		return nil, errUnwantedRange
	} else if !given && branches[0].IsRanged() {
		return nil, errMissingRange
	}
	lists := make([][]string, len(branches))
	for i, branch := range branches {
		if lists[i], err = d.addresses(ctx, branch, first, last); err != nil {
			return nil, err
		}
	}
	if len(lists) == 1 {
		return lists[0], nil
	}
	return lists, nil
}

// addresses returns the addresses of a range, in the order of the indices.
func (d Deps) addresses(ctx context.Context, branch *descriptor.Descriptor, first, last uint32) ([]string, error) {
	var addresses []string
	visit := func(_ uint32, scripts [][]byte) error {
		for _, script := range scripts {
			address, ok := descriptor.AddressOf(script, d.Net)
			switch {
			case ok:
				addresses = append(addresses, address)
			case len(scripts) == 1 || descriptor.ScriptType(script) != pubKeyType:
				return errNoAddress
			}
		}
		return nil
	}
	err := d.Expansions.ExpandRange(ctx, branch, first, last, cores.Count(), visit)
	if errors.Is(err, descriptor.ErrNeedsPrivateKey) || errors.Is(err, descriptor.ErrNotDerivable) {
		err = errNeedsPrivateKey
	}
	if err == nil && len(addresses) == 0 { // of unused()
		err = command.Error{Code: command.MiscError, Message: "Unexpected empty result"}
	}
	return addresses, err
}
