// Package zmqsink publishes messages to subscribers that speak ZMTP 3.0 or 3.1, as libzmq
// does: the PUB side, without authentication, over TCP and Unix sockets.
//
// A subscriber that does not read costs no other subscriber anything. Messages wait for it
// up to the high-water mark of its socket; further messages are dropped for it alone. Each
// message ends with its number within its topic, so that a subscriber notices missing
// messages. Reading from a peer takes bounded memory; a peer that does not speak ZMTP, or
// is no subscriber, is cut off.
package zmqsink
