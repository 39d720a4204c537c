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
// # Judging logins
//
// A login of Core's is known by its cookie file and its configuration, or because Core
// has accepted it a short time ago; for all others Core is asked, at the pace at which
// the server answers wrong logins. Core is asked by a call of a method that does not
// exist, which tells whether its whitelist binds the user.
//
// # Replies
//
// Results are the bytes that Core sent. They are bounded by [corenode.MaxReply]. A status
// of HTTP with which Core refuses a request is that of the reply.
//
// No login and nothing of a call is ever logged here.
package forward
