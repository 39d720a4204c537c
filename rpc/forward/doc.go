// Package forward passes calls on to a Bitcoin Core that the node is attached to: which,
// for whom, and with whose login.
//
// # Whose login
//
// A client that logs in as one of Core's users is passed on with its own login, so that
// Core's whitelist judges it. The logins of this node are lent the node's own one, for
// methods that only read and for sendrawtransaction; [All] lends them everything, [Read]
// and [None] bind everybody. stop is never passed on.
//
// Which node answers a method, and what it takes to call it, follows from the facts that the
// method's command states (see command.Subject, command.Effect and command.At).
//
// # Judging logins
//
// Core judges its logins: by a call of a method that does not exist, which tells whether
// its whitelist binds the user. A login that is in its cookie file or configuration, or that it
// has accepted before, is asked about at once; all others at the pace at which the server
// answers wrong logins. A login that was accepted keeps what it could last while Core does
// not answer, until another Core may be there.
//
// # Replies
//
// Results are the bytes that Core sent. They are bounded by [corenode.MaxReply]. A status
// of HTTP with which Core refuses a request is that of the reply.
//
// No login and nothing of a call is ever logged here.
package forward
