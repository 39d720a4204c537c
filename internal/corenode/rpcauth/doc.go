// Package rpcauth holds the users of an RPC server and the methods that each may call, by
// -rpcauth, -rpcwhitelist and -rpcwhitelistdefault. Its values are read from the options
// of this node or of a Bitcoin Core.
package rpcauth
