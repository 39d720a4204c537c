package main

import (
	"errors"
	"slices"

	"github.com/seed61375155/trawl/internal/jsontree"
)

// networkNames are the networks as Core calls them, and as it does where there is
// little room. The first and the last one cannot be reached.
var (
	networkNames  = []string{"not_publicly_routable", "ipv4", "ipv6", "onion", "i2p", "cjdns", "internal"}
	networkShorts = []string{"npr", "ipv4", "ipv6", "onion", "i2p", "cjdns", "int"}
)

// addrinfo counts the addresses of peers that the node knows, by network.
func (c *client) addrinfo(words []string) (*jsontree.Value, error) {
	if len(words) > 0 {
		return nil, errors.New("-addrinfo takes no arguments")
	}
	params, err := positional("getnodeaddresses", []string{"0"})
	if err != nil {
		return nil, err
	}
	answer, err := c.call(c.wallet, "getnodeaddresses", params)
	if err != nil {
		return nil, err
	}
	nodes, err := answer.value()
	if err != nil {
		return nil, err
	}
	counts := make([]int64, len(networkNames))
	for i, node := range nodes.Elements() {
		network := node.Get("network")
		if i == 0 && network.IsNull() {
			return nil, failf("-addrinfo requires %s server to be running v22.0 and up", c.names().Reference)
		}
		name, err := network.AsString()
		if err != nil {
			return nil, err
		}
		if known := slices.Index(networkNames, name); known >= 0 {
			counts[known]++
		}
	}
	addresses, total := jsontree.NewObject(), int64(0)
	for i := 1; i < len(networkNames)-1; i++ {
		addresses.Add(networkNames[i], jsontree.NewInt(counts[i]))
		total += counts[i]
	}
	addresses.Add("total", jsontree.NewInt(total))
	result := jsontree.NewObject()
	result.Add("addresses_known", addresses)
	return result, nil
}
