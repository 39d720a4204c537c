package main

import (
	"errors"
	"slices"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// generate makes blocks that pay a new address of the wallet.
func (c *client) generate(words []string) (*jsontree.Value, error) {
	answer, err := c.call(c.wallet, "getnewaddress", jsontree.NewArray())
	if err != nil {
		return nil, err
	}
	fresh, err := answer.value()
	if err != nil {
		return nil, err
	}
	address, err := fresh.AsString()
	if err != nil {
		return nil, err
	}
	switch {
	case len(words) > 2:
		return nil, errors.New("too many arguments (maximum 2 for nblocks and maxtries)")
	case len(words) == 0:
		words = []string{"1"}
	case words[0] == "0":
		return nil, errors.New("the first argument (number of blocks to generate, default: 1) must be an integer " +
			"value greater than zero")
	}
	params, err := positional("generatetoaddress", slices.Insert(slices.Clone(words), 1, address))
	if err != nil {
		return nil, err
	}
	if answer, err = c.call(c.wallet, "generatetoaddress", params); err != nil {
		return nil, err
	}
	blocks, err := answer.value()
	if err != nil {
		return nil, err
	}
	result := jsontree.NewObject()
	result.Add("address", fresh)
	result.Add("blocks", blocks)
	return result, nil
}
