// Package link carries the messages of a cluster between nodes by Proto.Actor's remote. It
// is the only package that knows remote, which comes without login, without limits, and
// with ways for a peer to end the process: all of them are closed here.
//
//   - It lives in an actor system of its own, so that no actor of the node can be named from
//     outside.
//   - Both sides of a connection prove by TLS 1.3 that they know the cluster's secret, or have a
//     certificate of the operator's authority. Handshakes are bounded in number, by address,
//     and in time.
//   - A guard in front of remote lets through frames for one actor, and what watching needs,
//     from the address alone that the connection is of. Everything else is dropped and counted.
//   - What a peer has sent and nobody has taken yet is bounded: then its connection is not read.
//
// Frames may be lost, as remote loses them: whoever waits for an answer asks again.
//
// Remote sets gRPC's logger, which is the process's, whenever a link is opened, and without a lock: a process with
// several links opens all of them before it uses any.
package link
