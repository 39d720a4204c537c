// Package zmqsink publishes messages to subscribers that speak ZMTP 3.0 or 3.1, as those of
// libzmq do: the PUB side of it, without authentication, over TCP and Unix sockets.
//
// A subscriber that does not read costs nobody else anything: messages wait for it up to
// the high-water mark of its socket, and those that find no room are dropped for it alone.
// Each message ends with its number among those of its topic, so that a subscriber sees
// that some are missing. A peer is read with bounded memory; one that does not speak ZMTP,
// or is no subscriber, is cut off.
package zmqsink
