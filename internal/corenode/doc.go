// Package corenode is the client of a running Bitcoin Core: JSON-RPC, single or batched, REST,
// and events of its chain.
//
// # Logins
//
// A login comes from Core's cookie or the operator's file. It is read again when Core refuses
// it, since Core makes a new cookie at each start. It goes to the configured address alone:
// redirects are not followed, no proxy is asked, and plain HTTP to another machine is refused
// unless the configuration says otherwise. No error and no text of this package holds a login.
//
// # Errors
//
// [ErrAway] passes: nobody answers, Core starts or stops, the cookie is missing. Callers that
// follow Core try again. An [Error] has code and text of Core's own refusal. [ErrForbidden] is
// its whitelist, [ErrNoREST] an interface that is off. An answer that no Core gives is
// [ErrReply]. All of them are found with errors.Is and errors.AsType.
//
// # Limits
//
// Replies are never decompressed, and no larger than a Core's. A call passed on for a client may
// have [MaxReply] bytes, a call of the node itself as many as its method needs. Only one reply
// to the node itself that is larger than a block is in memory at a time. Calls of the node
// itself have a time limit. Calls passed on for a client have none: some of Core's take hours.
//
// # Whether Core answers
//
// [Client.Silent] reports a Core that is silent: a call had no answer in time. [Client.Lost] counts
// how often another Core may have taken its place: state learned before has to be asked for
// again.
//
// All threads of a silent Core may be busy for long: no call is cut while its server gives a sign of
// life. Without such a sign Core hangs. All calls that are under way end with [ErrAway] then, and
// calls for clients are refused at once, until the next sign of life.
//
// A [Client] is safe for concurrent use. It holds a goroutine only while calls are under way, and for a
// few seconds after a call without an answer.
package corenode
