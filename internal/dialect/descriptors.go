package dialect

import "github.com/seed61375155/trawl/descriptor"

// Descriptors returns what descriptors and addresses of the network look like.
func (n *Network) Descriptors() *descriptor.Network {
	return descriptor.NetworkOf(n.Params)
}
