// Package corenode is the client of a running Bitcoin Core: its JSON-RPC, one call or
// many at a time, its REST interface, and the news of its chain.
//
// # Logins
//
// A login comes from Core's cookie file or from a file of the operator, and is read
// again when Core refuses it, since Core makes a new cookie at each start. It goes to
// the configured address alone: redirects are not followed, no proxy is asked, and
// plain HTTP to another machine is refused unless the configuration says otherwise.
// No error and no text of this package holds a login.
//
// # Errors
//
// [ErrAway] is what passes: nobody answers, Core starts or stops, the cookie is missing.
// Whoever follows Core tries again. An [Error] is what Core itself says of a call, as it
// said it. [ErrForbidden] is its whitelist, [ErrNoREST] an interface that is off. All of
// them are found with errors.Is and errors.AsType; what else comes is an answer that no
// Core gives, [ErrReply].
//
// # Limits
//
// Replies are never decompressed, and no larger than those of a Core: what is passed on for a
// client has up to [MaxReply] bytes, and calls of the node itself as many as their method needs.
// Of replies to these that are larger than a block one is in memory at a time. Each call of the
// node itself has a time limit; what is passed on for a client has none but its context.
//
// # Whether Core answers
//
// [Client.Silent] knows of a Core that hangs: a call had no answer in time. [Client.Lost] counts
// how often Core may have become another one: what was known of it then has to be asked again.
//
// A [Client] is safe for concurrent use and holds no goroutine.
package corenode
