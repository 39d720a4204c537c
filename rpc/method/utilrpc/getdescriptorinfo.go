package utilrpc

import (
	"context"
	"strings"

	"github.com/seed61375155/trawl/descriptor"
	"github.com/seed61375155/trawl/rpc/command"
)

const exampleKey = "0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"

type descriptorInfo struct {
	Descriptor  string   `json:"descriptor"`
	Multipath   []string `json:"multipath_expansion,omitempty"`
	Checksum    string   `json:"checksum"`
	IsRange     bool     `json:"isrange"`
	IsSolvable  bool     `json:"issolvable"`
	Satisfiable *bool    `json:"has_p2mr_standard_satisfaction,omitempty"` // P2MR only
	HasPrivates bool     `json:"hasprivatekeys"`
	Warnings    []string `json:"warnings,omitempty"`
}

func getDescriptorInfo(d Deps) command.Command {
	return command.Command{
		Name:     "getdescriptorinfo",
		Category: command.Util,
		About:    command.Pure, Effect: command.Reads,
		Summary: "Checks an output descriptor and says what it is.",
		Params: []command.Param{
			{Name: "descriptor", Type: command.String, Help: "The descriptor, with or without checksum", Secret: true},
		},
		Results: []command.Result{{Type: command.Object, Inner: []command.Result{
			{
				Type: command.String, Key: "descriptor",
				Help: "The descriptor in canonical form, without private keys; the first one of a multipath descriptor",
			},
			{
				Type: command.Array, Key: "multipath_expansion", Optional: true,
				Help:  "All descriptors that a multipath descriptor stands for",
				Inner: []command.Result{{Type: command.String, Help: "A descriptor"}},
			},
			{Type: command.String, Key: "checksum", Help: "The checksum of the descriptor as it was given"},
			{Type: command.Bool, Key: "isrange", Help: "Whether it stands for a range of scripts"},
			{Type: command.Bool, Key: "issolvable", Help: "Whether it says how its scripts are spent"},
			{
				Type: command.Bool, Key: "has_p2mr_standard_satisfaction", Optional: true,
				Help: "Whether a wallet could spend its P2MR outputs within the limits of policy",
			},
			{Type: command.Bool, Key: "hasprivatekeys", Help: "Whether it was given with a private key"},
			{
				Type: command.Array, Key: "warnings", Optional: true,
				Help:  "Parts of it that do not do what they seem to, such as lock times that do not lock",
				Inner: []command.Result{{Type: command.String, Help: "A warning"}},
			},
		}}},
		Examples: []string{`["wpkh([d34db33f/84h/0h/0h]` + exampleKey + `)"]`},
		Run: func(_ context.Context, a *command.Args) (any, error) {
			text, err := a.String(0)
			if err != nil {
				return nil, err
			}
			branches, err := d.parse(text, descriptor.Options{}) //nolint:contextcheck // one index
			if err != nil {
				return nil, err
			}
			return newDescriptorInfo(text, branches), nil
		},
	}
}

func newDescriptorInfo(text string, branches []*descriptor.Descriptor) descriptorInfo {
	body, _, _ := strings.Cut(text, "#")
	sum, _ := descriptor.Checksum(body) // it has one: it was parsed
	first := branches[0]
	info := descriptorInfo{
		Descriptor:  first.String(),
		Checksum:    sum,
		IsRange:     first.IsRanged(),
		IsSolvable:  first.IsSolvable(),
		HasPrivates: first.HasPrivateKeys(),
		Warnings:    first.Warnings(),
	}
	if satisfiable, ok := first.P2MRSatisfiable(); ok {
		info.Satisfiable = &satisfiable
	}
	if len(branches) > 1 {
		for _, branch := range branches {
			info.Multipath = append(info.Multipath, branch.String())
		}
	}
	return info
}

// parse reads a descriptor; the error is what the client is told.
func (d Deps) parse(text string, opts descriptor.Options) ([]*descriptor.Descriptor, error) {
	branches, err := descriptor.Parse(text, d.Net, opts)
	for i := 0; err == nil && i < len(branches); i++ {
		err = branches[i].CheckAllowed("Input")
	}
	if err != nil {
		return nil, command.Error{Code: command.InvalidAddressOrKey, Message: err.Error()}
	}
	return branches, nil
}
