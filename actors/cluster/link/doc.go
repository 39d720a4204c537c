// Package link carries the messages of a cluster between nodes as frames of bytes, over TLS.
//
// A node connects to each node that it sends to, and only reads where others have connected to it, so that what
// is meant for an address goes to whoever listens there, and nobody's word is taken for it.
//
//   - Both sides of a connection prove by TLS 1.3 that they know the cluster's secret, or have a
//     certificate of the operator's authority. Handshakes are bounded in number, by address,
//     and in time.
//   - Who connects says first by which address it is reached itself, in a frame. Each frame is its length, of four
//     bytes, the most significant first, and that many bytes. One without bytes says that the node is there; where
//     frames come in, bytes that mean nothing say the same. Whoever says nothing for ten seconds is gone.
//   - What peers have sent and nobody has taken yet is bounded, of each and of all: then their connections are not
//     read.
//   - What waits for a node is bounded in number and in bytes. Above that, and when a connection ends, frames are
//     lost: whoever waits for an answer asks again.
package link
