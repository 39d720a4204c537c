// Package forward passes calls on to a Bitcoin Core that the node is attached to. It chooses
// calls, callers and logins.
//
// # Whose login
//
// The calls of a client with a login of Core have that login, so that Core's whitelist
// judges them. A client with a login of this node uses the node's own login, for methods
// that only read and for sendrawtransaction. [All] delegates everything; [Read] and
// [None] bind everybody. The method stop is never passed on.
//
// Each method's command states facts (see command.Subject, command.Effect and command.At). They
// decide about the node that answers, and the rights that a call needs.
//
// # Judging logins
//
// Core judges its logins. Its answer to a call of a method that does not exist shows whether a
// login is right, and whether a whitelist binds the user. Core is asked at once about a login
// that is in its cookie file or configuration, or that it has accepted before. It is asked
// about other logins at the pace at which the server answers wrong logins. While Core does not
// answer, an accepted login keeps its last rights, until another Core may be there.
//
// # Replies
//
// Results are the bytes that Core sent. They are bounded by [corenode.MaxReply]. A status
// of HTTP with which Core refuses a request is that of the reply.
//
// No login and nothing of a call is ever logged here.
package forward
