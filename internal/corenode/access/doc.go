// Package access is who may log in to an RPC server and what they may call, as
// -rpcauth, -rpcwhitelist and -rpcwhitelistdefault say it: values, read from the options
// of this node or of a Bitcoin Core.
package access
